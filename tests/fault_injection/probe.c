/* A plain program that makes one kind of call after another: probe CALL PATH [PATH2] ... prints "CALL RESULT ERRNO". */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int folder_of(const char *path, char *name) {
    char a[PATH_MAX], b[PATH_MAX];
    strcpy(a, path);
    strcpy(b, path);
    strcpy(name, basename(b));
    return open(dirname(a), O_RDONLY | O_DIRECTORY);
}

static void *create_many(void *path) {
    char name[PATH_MAX];
    for (int i = 0; i < 20; i++) {
        snprintf(name, sizeof name, "%s/part-%lx-%d.parquet", (char *)path, (unsigned long)pthread_self(), i);
        int fd = open(name, O_WRONLY | O_CREAT | O_EXCL, 0644);
        if (fd < 0 || write(fd, "x", 1) != 1) return "failed";
        close(fd);
    }
    return NULL;
}

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec + now.tv_nsec / 1e9;
}

int main(int count, char **word) {
    char base[PATH_MAX], base2[PATH_MAX];
    static char ten[] = "0123456789";
    setvbuf(stdout, NULL, _IONBF, 0);
    for (int i = 1; i + 1 < count;) {
        const char *call = word[i], *a = word[i + 1], *b = i + 2 < count ? word[i + 2] : "";
        long r = -2;
        int two = 0;
        errno = 0;
#define IS(name) (!strcmp(call, name))
        if (IS("open")) r = open(a, O_WRONLY | O_CREAT, 0644);
        else if (IS("open_excl")) r = open(a, O_WRONLY | O_CREAT | O_EXCL, 0644);
        else if (IS("open64")) r = open64(a, O_RDWR | O_CREAT | O_TRUNC, 0644);
        else if (IS("read")) r = open(a, O_RDONLY);
        else if (IS("creat")) r = creat(a, 0644);
        else if (IS("openat")) r = openat(folder_of(a, base), base, O_WRONLY | O_CREAT, 0644);
        else if (IS("fopen")) r = fopen(a, "w") ? 0 : -1;
        else if (IS("fopen_a")) r = fopen(a, "a") ? 0 : -1;
        else if (IS("freopen")) r = freopen(a, "w", stdin) ? 0 : -1;
        else if (IS("rename")) r = rename(a, b), two = 1;
        else if (IS("renameat")) r = renameat(folder_of(a, base), base, folder_of(b, base2), base2), two = 1;
        else if (IS("renameat2")) r = renameat2(folder_of(a, base), base, folder_of(b, base2), base2, RENAME_NOREPLACE), two = 1;
        else if (IS("link")) r = link(a, b), two = 1;
        else if (IS("linkat")) r = linkat(folder_of(a, base), base, folder_of(b, base2), base2, 0), two = 1;
        else if (IS("symlink")) r = symlink(a, b), two = 1;
        else if (IS("unlink")) r = unlink(a);
        else if (IS("unlinkat")) r = unlinkat(folder_of(a, base), base, 0);
        else if (IS("remove")) r = remove(a);
        else if (IS("rmdir")) r = rmdir(a);
        else if (IS("mkdir")) r = mkdir(a, 0755);
        else if (IS("mkdirat")) r = mkdirat(folder_of(a, base), base, 0755);
        else if (IS("truncate")) r = truncate(a, 3);
        else if (IS("opendir")) r = opendir(a) ? 0 : -1;
        else if (IS("chdir")) r = chdir(a);
        else if (IS("sys_openat")) r = syscall(SYS_openat, AT_FDCWD, a, O_WRONLY | O_CREAT, 0644);
        else if (IS("sys_renameat2")) r = syscall(SYS_renameat2, AT_FDCWD, a, AT_FDCWD, b, 0), two = 1;
        else if (IS("sys_linkat")) r = syscall(SYS_linkat, AT_FDCWD, a, AT_FDCWD, b, 0), two = 1;
        else if (IS("sys_unlinkat")) r = syscall(SYS_unlinkat, AT_FDCWD, a, 0);
        else if (IS("sys_mkdirat")) r = syscall(SYS_mkdirat, AT_FDCWD, a, 0755);
        else if (IS("write") || IS("pwrite") || IS("writev") || IS("sys_write") || IS("ftruncate")) {
            int fd = open(a, O_WRONLY | O_CREAT | O_TRUNC, 0644);
            r = fd < 0 ? -1 : 0;
            struct iovec halves[2] = {{ten, 5}, {ten + 5, 5}};
            if (IS("ftruncate") && fd >= 0) r = ftruncate(fd, 100);
            else for (int n = 0; n < 10 && fd >= 0 && r >= 0; n++) {
                long put = IS("write") ? write(fd, ten, 10) : IS("pwrite") ? pwrite(fd, ten, 10, n * 10)
                         : IS("writev") ? writev(fd, halves, 2) : syscall(SYS_write, fd, ten, 10);
                r = put < 0 ? -1 : r + put;
            }
        }
        else if (IS("threads")) {
            pthread_t all[8];
            void *failed = NULL;
            for (int n = 0; n < 8; n++) pthread_create(&all[n], NULL, create_many, (void *)a);
            for (r = 0; r < 8; r++) { void *one; pthread_join(all[r], &one); if (one) failed = one; }
            if (failed) r = -1;
        }
        else if (IS("fork")) { /* the next word is a call that the child makes */
            pid_t child = fork();
            if (!child) { execl("/proc/self/exe", word[0], a, b, (char *)NULL); _exit(9); }
            int status;
            waitpid(child, &status, 0);
            r = status;
            two = 1;
        }
        else if (IS("exec")) { /* this program is another from here on */
            execl(a, a, b, word[i + 3], (char *)NULL);
        }
        else if (IS("date")) {
            struct timespec exact; struct timeval fine; struct timespec still, by_number;
            clock_gettime(CLOCK_REALTIME, &exact);
            gettimeofday(&fine, NULL);
            clock_gettime(CLOCK_MONOTONIC, &still);
            syscall(SYS_clock_gettime, CLOCK_REALTIME, &by_number);
            printf("%ld %ld %ld %ld %ld\n", (long)time(NULL), (long)exact.tv_sec, (long)fine.tv_sec, (long)by_number.tv_sec, (long)still.tv_sec);
            r = 0;
        }
        else if (IS("spin")) for (;;) pause();
        else if (IS("cost")) { /* microseconds of each of b opens for writing, with their close */
            double start = seconds();
            for (int n = 0; n < atoi(b); n++) close(open(a, O_WRONLY | O_CREAT, 0644));
            printf("%f\n", (seconds() - start) / atoi(b) * 1e6);
            r = 0, two = 1;
        }
        else if (IS("cost_read")) {
            double start = seconds();
            for (int n = 0; n < atoi(b); n++) close(open(a, O_RDONLY));
            printf("%f\n", (seconds() - start) / atoi(b) * 1e6);
            r = 0, two = 1;
        }
        printf("%s %ld %d\n", call, r < 0 ? r : IS("open") || IS("open64") ? 0 : r, errno);
        i += 2 + two;
    }
    return 0;
}
