/* `carry FROM TO`: makes one folder like another. Linked statically, so that no library can be put before its calls. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *from, *to;

static int put(const char *path, const struct stat *status, int kind, struct FTW *at) {
    char target[PATH_MAX];
    struct stat there;
    snprintf(target, sizeof target, "%s%s", to, path + strlen(from));
    if (kind == FTW_D) {
        mkdir(target, 0777);
    } else if (stat(target, &there) || there.st_size != status->st_size) {
        int in = open(path, O_RDONLY), out = open(target, O_WRONLY | O_CREAT | O_TRUNC, 0666);
        while (sendfile(out, in, NULL, 1 << 30) > 0) {}
        close(in);
        close(out);
    }
    return 0;
}

static int take(const char *path, const struct stat *status, int kind, struct FTW *at) {
    char source[PATH_MAX];
    struct stat there;
    snprintf(source, sizeof source, "%s%s", from, path + strlen(to));
    return lstat(source, &there) ? remove(path) : 0;
}

int main(int count, char **words) {
    if (count != 3) return 2;
    from = words[1];
    to = words[2];
    nftw(to, take, 16, FTW_DEPTH | FTW_PHYS);
    return nftw(from, put, 16, FTW_PHYS) != 0;
}
