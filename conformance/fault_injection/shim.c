/* The turnstile's shim: preloaded into an engine, it asks a controller before each change under the watched table.
 *
 * What it needs to know is in a page, a small file shared with the controller (shared_page.py has the same layout). The
 * path of the page is in the environment, so children belong to the same instrumented process. While the page is not
 * armed a call costs a load and a branch. While it is armed, the shim resolves the paths of each call that publishes,
 * creates or removes files. If they are under the table it connects to the controller: question, answer, and after the
 * call its result. The caller is paused until the answer comes. Without a controller the process ends itself.
 *
 * Where only gates matter, the shim writes other calls into the journal, behind the page, and does not ask. It does the
 * same with as many gates as the controller has granted beforehand.
 *
 * Not seen: writes through a FILE's own buffer, mmap, io_uring, and engines that don't call the C library.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define MAGIC 0x31454c4954535254ULL /* "TRSTILE1" */

struct page {
    uint64_t magic;
    int32_t armed;      /* a bit for each kind of call that is asked about; 0: idle */
    int32_t killed;     /* the process is dead: each of its threads and children dies at its next call */
    int32_t dead;       /* the table is dead: changes fail with this errno */
    int32_t root;       /* the process that a kill ends first */
    int64_t clock_ns;   /* added to the real time */
    uint64_t attached;  /* processes that loaded the shim */
    uint64_t refused;   /* changes that a dead table has refused */
    int32_t limit;      /* seconds after which a paused caller ends itself, even if the controller is stopped */
    int32_t generation; /* counts the armings; files torn in an earlier one are whole again */
    char actor[64];
    char socket[108];
    char table[PATH_MAX];
    uint64_t calls;     /* calls that the shim handled; counted only in a library made for measuring */
    int32_t journals;   /* whether calls are written down; then only those of the classes in `asks` are asked about */
    int32_t asks;
    int32_t asking;     /* threads that wait for an answer: the others of the process ask too, and wait behind them */
    int32_t controller; /* its process */
    uint64_t written;   /* bytes of the journal */
    int32_t gates;      /* the open ones, a bit each */
    int32_t grants;     /* how many of them the process may pass without asking */
    char rest[8192 - 4368];
    char journal[1 << 20];
};
#define ROOM (sizeof page->journal - (1 << 18)) /* beyond that the shim asks about every call */

enum kind { OPEN = 1, RENAME, LINK, REMOVE, MKDIR, TRUNCATE, LIST, LOOK };
enum verb { PASS, FAIL, KILL_BEFORE, KILL_AFTER, LOSE_REPLY, TEAR, DEAD_BEFORE, DEAD_AFTER };
struct question { int32_t asks, kind, pid, tid, flags, noted; };
struct answer { int32_t verb, err; int64_t length; };
struct entry { int32_t length, state, err, kind, pid, tid; }; /* then its path, source and thread, each with its end */
enum state { COMING, UNDER_WAY, OVER };
enum class { SNAPSHOT = 1, DATA = 2, LOG = 4 };
enum gate { NONE = 0, AT_SNAPSHOT = 1, AT_DATA = 2, AT_STAGING = 4, AT_PUBLISH = 8, UNSURE = -1 };
#define GRANTED 256 /* with the kind of a call in the journal: it passed a gate by a grant */
struct turn { int fd, generation; struct entry *entry; struct answer answer; };
struct torn { dev_t dev; ino_t ino; int64_t length; int32_t then, generation; };

static struct page *volatile page;
static struct torn torn[8];
static volatile int any_torn;

#define likely(x) __builtin_expect(!!(x), 1)
#define NEXT(name) ({ static void *slot_; (__typeof__(&name))next_(&slot_, #name); })

static void *next_(void **slot, const char *name) {
#ifdef TURNSTILE_COUNTS
    if (page) __atomic_add_fetch(&page->calls, 1, __ATOMIC_RELAXED);
#endif
    void *found = __atomic_load_n(slot, __ATOMIC_RELAXED);
    if (!likely(found)) {
        found = dlsym(RTLD_NEXT, name);
        __atomic_store_n(slot, found, __ATOMIC_RELAXED);
    }
    return found;
}

__attribute__((constructor)) static void attach(void) {
    const char *path = getenv("DELTA_TURNSTILE");
    if (!path || page) return;
    int fd = (int)NEXT(syscall)(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC);
    struct page *found = MAP_FAILED;
    if (fd >= 0) {
        found = mmap(NULL, sizeof *found, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        close(fd);
    }
    if (found == MAP_FAILED || found->magic != MAGIC) {
        dprintf(2, "turnstile: no page at %s, so nothing of this process is seen\n", path);
        return;
    }
    if (!getenv("DELTA_TURNSTILE_ROOT")) { /* the first process with this environment: a new life */
        char number[16];
        snprintf(number, sizeof number, "%d", getpid());
        setenv("DELTA_TURNSTILE_ROOT", number, 1);
        found->root = getpid();
        found->killed = found->dead = 0;
    }
    __atomic_add_fetch(&found->attached, 1, __ATOMIC_SEQ_CST);
    page = found;
}

static void end_actor(const char *why) {
    int self = getpid(), root = page->root;
    if (why) dprintf(2, "turnstile: %s; process %d ends itself\n", why, self);
    page->killed = 1;
    if (root > 1 && root != self) kill(root, SIGKILL);
    kill(self, SIGKILL);
    for (;;) pause();
}

/* Paths */

static int joined(char *out, const char *head, const char *tail) {
    return snprintf(out, PATH_MAX, "%s/%s", strcmp(head, "/") ? head : "", tail) < PATH_MAX;
}

/* The real path of what exists, and of what does not the real path of its nearest ancestor with the rest behind it;
 * 2 if not even its folder exists. */
static int resolve(int dirfd, const char *path, int follow, char *out) {
    char whole[PATH_MAX], real[PATH_MAX];
    if (path[0] == '/') {
        if (snprintf(whole, sizeof whole, "%s", path) >= (int)sizeof whole) return 0;
    } else {
        char base[PATH_MAX], link[40];
        if (dirfd == AT_FDCWD) {
            if (!getcwd(base, sizeof base)) return 0;
        } else {
            snprintf(link, sizeof link, "/proc/self/fd/%d", dirfd);
            ssize_t length = readlink(link, base, sizeof base - 1);
            if (length < 0) return 0;
            base[length] = 0;
        }
        if (!joined(whole, base, path)) return 0;
    }
    size_t length = strlen(whole);
    while (length > 1 && whole[length - 1] == '/') whole[--length] = 0;
    char *cut = strrchr(whole, '/');
    int dots = !strcmp(cut + 1, ".") || !strcmp(cut + 1, "..");
    if ((follow || dots || length == 1) && realpath(whole, out)) return 1;
    for (;;) {
        *cut = 0;
        int found = realpath(cut == whole ? "/" : whole, real) != NULL;
        *cut = '/';
        if (found) return joined(out, real, cut + 1) ? 1 + (strchr(cut + 1, '/') != NULL) : 0;
        if (cut == whole) return 0;
        for (cut--; cut > whole && *cut != '/'; cut--) {}
    }
}

/* The part of a resolved path below the table; the table itself is ".", what is not below it NULL. */
static const char *below(const char *real) {
    size_t length = strlen(page->table);
    if (!length || strncmp(real, page->table, length)) return NULL;
    if (!real[length]) return ".";
    return real[length] == '/' ? real + length + 1 : NULL;
}

/* Asking */

static int reach(void) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    memcpy(address.sun_path, page->socket, sizeof address.sun_path);
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (fd < 0) return -1;
    while (connect(fd, (struct sockaddr *)&address, sizeof address))
        if (errno != EINTR && errno != EAGAIN) {
            close(fd);
            return -1;
        }
    return fd;
}

static void await(int fd, struct answer *answer) {
    struct timespec start, now;
    NEXT(clock_gettime)(CLOCK_MONOTONIC, &start);
    for (;;) {
        NEXT(clock_gettime)(CLOCK_MONOTONIC, &now);
        int64_t left = page->limit - (now.tv_sec - start.tv_sec);
        if (left <= 0) end_actor("parked beyond its time limit");
        struct pollfd wait = {.fd = fd, .events = POLLIN};
        int ready = poll(&wait, 1, (int)(left * 1000));
        if (ready < 0 && errno == EINTR) continue;
        if (ready == 0) continue;
        ssize_t got = recv(fd, answer, sizeof *answer, 0);
        if (got < 0 && errno == EINTR) continue;
        if (got != sizeof *answer) end_actor("the controller is gone");
        return;
    }
}

static void ask(struct turn *turn, int kind, int flags, int noted, const char *path, const char *source) {
    char message[sizeof(struct question) + sizeof page->actor + 2 * PATH_MAX + 16], thread[17] = "";
    prctl(PR_GET_NAME, thread);
    struct question head = {1, kind, getpid(), (int)syscall(SYS_gettid), flags, noted};
    memcpy(message, &head, sizeof head);
    char *end = message + sizeof head;
    const char *parts[] = {page->actor, path, source, thread};
    for (int i = 0; i < 4; i++) end = stpcpy(end, parts[i]) + 1;
    turn->fd = reach();
    if (turn->fd < 0 || send(turn->fd, message, end - message, MSG_NOSIGNAL) < 0)
        end_actor("the controller can't be reached");
    await(turn->fd, &turn->answer);
}

/* The class of a call: at which gates it may be. None if no writer is paused there. */
static int class_of(int kind, const char *path) {
    if (kind == LIST || kind == LOOK) return SNAPSHOT;
    if (kind == REMOVE || kind == MKDIR) return 0;
    return strncmp(path, "_delta_log/", 11) ? DATA : LOG;
}

static int is_commit(const char *name) {
    for (int i = 0; i < 20; i++)
        if (name[i] < '0' || name[i] > '9') return 0;
    return !strncmp(name + 20, ".json", 5);
}

/* The gate that a call is at, if its name leaves no doubt; the controller knows the others. */
static int gate_of(int kind, const char *path) {
    if (kind == LIST || kind == LOOK) return AT_SNAPSHOT;
    if (kind == REMOVE || kind == MKDIR) return NONE;
    const char *cut = strrchr(path, '/'), *name = cut ? cut + 1 : path;
    size_t length = strlen(name);
    if (name[0] == '.' && length > 4 && !strcmp(name + length - 4, ".crc")) return NONE;
    if (!strncmp(path, "_delta_log/", 11)) {
        if (name != path + 11) return UNSURE;
        if (is_commit(name)) return name[25] ? AT_STAGING : AT_PUBLISH;
        return name[0] == '.' && is_commit(name + 1) ? AT_STAGING : UNSURE;
    }
    return path[0] != '_' && strstr(name, ".parquet") ? AT_DATA : UNSURE;
}

/* Take a grant for a gate, if one is left; all gates before it are passed then. */
static int granted(int gate) {
    int32_t left = page->grants;
    while (left > 0)
        if (__atomic_compare_exchange_n(&page->grants, &left, left - 1, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
            int32_t before = __atomic_fetch_and(&page->gates, ~(2 * gate - 1), __ATOMIC_SEQ_CST);
            if (before & gate) return 1;
            __atomic_add_fetch(&page->grants, 1, __ATOMIC_SEQ_CST); /* another thread was here */
            return 0;
        }
    return 0;
}

static struct entry *note(int kind, const char *path, const char *source) {
    char thread[17] = "";
    prctl(PR_GET_NAME, thread);
    const char *parts[] = {path, source, thread};
    size_t length = sizeof(struct entry);
    for (int i = 0; i < 3; i++) length += strlen(parts[i]) + 1;
    length = (length + 7) & ~(size_t)7;
    uint64_t at = __atomic_fetch_add(&page->written, length, __ATOMIC_SEQ_CST);
    if (at + length > sizeof page->journal) end_actor("the journal is full");
    struct entry *entry = (struct entry *)(page->journal + at);
    __atomic_store_n(&entry->length, (int32_t)length, __ATOMIC_RELEASE);
    entry->kind = kind, entry->pid = getpid(), entry->tid = (int)syscall(SYS_gettid);
    char *end = (char *)(entry + 1);
    for (int i = 0; i < 3; i++) end = stpcpy(end, parts[i]) + 1;
    __atomic_store_n(&entry->state, UNDER_WAY, __ATOMIC_RELEASE);
    return entry;
}

/* Whether to ask the controller about a call. If not, the call may pass a gate `by_grant`. */
static int must_ask(int kind, const char *path, int *by_grant) {
    int gate = gate_of(kind, path);
    if (page->asking) return 1; /* another thread is paused: all wait behind it */
    if (gate == UNSURE) return page->asks & class_of(kind, path);
    if (!(page->gates & gate)) return 0;
    *by_grant = granted(gate);
    return !*by_grant && page->gates & gate;
}

/* Ask the controller about a call, or where that is not needed write an entry into the journal. */
static void announce(struct turn *turn, int kind, int flags, const char *path, const char *source) {
    int by_grant = 0;
    turn->generation = page->generation;
    if (!page->journals || page->written >= ROOM) {
        ask(turn, kind, flags, 0, path, source);
    } else if (must_ask(kind, path, &by_grant)) {
        __atomic_add_fetch(&page->asking, 1, __ATOMIC_SEQ_CST);
        ask(turn, kind, flags, 1, path, source);
        __atomic_sub_fetch(&page->asking, 1, __ATOMIC_SEQ_CST);
        if (turn->answer.verb == PASS) turn->entry = note(kind, path, source);
    } else {
        if (kill(page->controller, 0) && errno == ESRCH) end_actor("the controller is gone");
        turn->entry = note(by_grant ? kind | GRANTED : kind, path, source);
    }
}

/* Before a call. 0: it must not be made, and errno says why. `path` is what appears or goes, `from` where it comes from. */
static int enter(struct turn *turn, int kind, int flags, int dirfd, const char *path, int follow,
                 int from_dirfd, const char *from) {
    char real[PATH_MAX], real_from[PATH_MAX];
    const char *target, *source = "";
    int saved = errno;
    struct stat there;
    turn->fd = -1;
    turn->entry = NULL;
    turn->answer.verb = PASS;
    if (!path || !page->armed) return 1;
    if (page->killed) end_actor(NULL);
    int found = resolve(dirfd, path, follow, real);
    target = found == 1 ? below(real) : NULL; /* nothing comes of a call into a folder that is not there */
    if (from) {
        source = resolve(from_dirfd, from, 0, real_from) ? below(real_from) : NULL;
        if (!source) source = "";
        if (!target && kind == RENAME && source[0]) { /* moved out of the table: there it goes */
            target = source;
            source = "";
            kind = REMOVE;
            memcpy(real, real_from, sizeof real);
        }
    }
    errno = saved;
    if (!target || (kind == LIST && strcmp(target, "_delta_log"))) return 1;
    if (kind == LOOK && strncmp(target, "_delta_log/", 11)) return 1;
    if (kind == MKDIR && !lstat(real, &there)) return 1; /* it will fail, or was only making sure */
    if ((kind == REMOVE || kind == TRUNCATE) && lstat(real, &there)) goto pass;
    if ((kind == RENAME || kind == LINK) && from && source[0] && lstat(real_from, &there)) goto pass;
    if (page->dead && kind != LIST && kind != LOOK) {
        __atomic_add_fetch(&page->refused, 1, __ATOMIC_SEQ_CST);
        errno = page->dead;
        return 0;
    }
    if (!(page->armed & (1 << kind))) goto pass;
    announce(turn, kind, flags, target, source);
    errno = saved;
    switch (turn->answer.verb) {
    case KILL_BEFORE:
        end_actor(NULL);
        break;
    case DEAD_BEFORE:
        page->dead = turn->answer.err;
        __attribute__((fallthrough));
    case FAIL:
        close(turn->fd);
        errno = turn->answer.err;
        return 0;
    }
    return 1;
pass:
    errno = saved;
    return 1;
}

/* After a call. 1: it has to be reported as failed, and errno says how. */
static int leave(struct turn *turn, int failed, int fd) {
    if (turn->fd < 0 && !turn->entry) return 0;
    int saved = errno, lost = 0;
    if (turn->entry) {
        if (turn->generation == page->generation) {
            turn->entry->err = failed ? saved : 0;
            __atomic_store_n(&turn->entry->state, OVER, __ATOMIC_RELEASE);
        }
        if (turn->fd >= 0) close(turn->fd);
        errno = saved;
        return 0;
    }
    int32_t done[4] = {2, failed ? saved : 0, 0, 0};
    if (turn->answer.verb == TEAR && !failed) {
        struct stat there;
        done[2] = 1; /* could not be torn */
        if (fd >= 0 && !fstat(fd, &there))
            for (int i = 0; i < 8 && done[2]; i++)
                if (torn[i].generation != page->generation) {
                    torn[i] = (struct torn){there.st_dev, there.st_ino, turn->answer.length, turn->answer.err,
                                            page->generation};
                    any_torn = 1;
                    done[2] = 0;
                }
    }
    if (turn->answer.verb == DEAD_AFTER) page->dead = turn->answer.err;
    send(turn->fd, done, sizeof done, MSG_NOSIGNAL);
    close(turn->fd);
    if (turn->answer.verb == KILL_AFTER) end_actor(NULL);
    if (turn->answer.verb == LOSE_REPLY && !failed) {
        saved = turn->answer.err;
        lost = 1;
    }
    errno = saved;
    return lost;
}

#define IDLE (likely(!page || !page->armed))

/* Opening */

static int kind_of(int dirfd, const char *path, int flags) {
    if ((flags & O_TMPFILE) == O_TMPFILE) return 0; /* without a name; the link that gives it one is asked about */
    if ((flags & O_ACCMODE) != O_RDONLY || (flags & (O_CREAT | O_TRUNC))) return OPEN;
    if (flags & O_PATH) return 0;
    size_t length = strlen(path);
    if (length >= 10 && !strcmp(path + length - 10, "_delta_log")) return LIST;
    if (flags & O_DIRECTORY) return LIST;
    return (page->armed & (1 << LOOK)) && (strstr(path, "_delta_log/") || dirfd != AT_FDCWD) ? LOOK : 0;
}

static int opening(int dirfd, const char *path, int flags, mode_t mode) {
    int kind = IDLE || !path ? 0 : kind_of(dirfd, path, flags);
    if (!kind) return NEXT(openat)(dirfd, path, flags, mode);
    struct turn turn;
    int follow = !(flags & O_NOFOLLOW) && (flags & (O_CREAT | O_EXCL)) != (O_CREAT | O_EXCL);
    if (!enter(&turn, kind, flags, dirfd, path, follow, 0, NULL)) return -1;
    int fd = NEXT(openat)(dirfd, path, flags, mode);
    if (leave(&turn, fd < 0, fd) && fd >= 0) {
        int saved = errno;
        close(fd);
        errno = saved;
        fd = -1;
    }
    return fd;
}

static mode_t mode_of(int flags, va_list rest) {
    return (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(rest, mode_t) : 0;
}

#define OPENER(name, extra)                                     \
    int name(const char *path, int flags, ...) {                \
        va_list rest;                                           \
        va_start(rest, flags);                                  \
        mode_t mode = mode_of(flags, rest);                     \
        va_end(rest);                                           \
        return opening(AT_FDCWD, path, flags | (extra), mode);  \
    }
OPENER(open, 0)
OPENER(open64, O_LARGEFILE)
#define OPENER_AT(name, extra)                                  \
    int name(int dirfd, const char *path, int flags, ...) {     \
        va_list rest;                                           \
        va_start(rest, flags);                                  \
        mode_t mode = mode_of(flags, rest);                     \
        va_end(rest);                                           \
        return opening(dirfd, path, flags | (extra), mode);     \
    }
OPENER_AT(openat, 0)
OPENER_AT(openat64, O_LARGEFILE)
int __open_2(const char *path, int flags) { return opening(AT_FDCWD, path, flags, 0); }
int __open64_2(const char *path, int flags) { return opening(AT_FDCWD, path, flags | O_LARGEFILE, 0); }
int __openat_2(int dirfd, const char *path, int flags) { return opening(dirfd, path, flags, 0); }
int __openat64_2(int dirfd, const char *path, int flags) { return opening(dirfd, path, flags | O_LARGEFILE, 0); }
int creat(const char *path, mode_t mode) { return opening(AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, mode); }
int creat64(const char *path, mode_t mode) {
    return opening(AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC | O_LARGEFILE, mode);
}

#define STREAM(signature, call)                                                     \
    FILE *signature {                                                               \
        int writes = mode && strpbrk(mode, "wa+") != NULL;                          \
        int kind = IDLE || !path ? 0 : writes ? OPEN : page->armed & (1 << LOOK) ? LOOK : 0; \
        if (!kind) return call;                                                     \
        struct turn turn;                                                           \
        int flags = writes ? O_WRONLY | (mode[0] == 'r' ? 0 : O_CREAT) | (mode[0] == 'w' ? O_TRUNC : 0) : 0; \
        if (!enter(&turn, kind, flags, AT_FDCWD, path, 1, 0, NULL)) return NULL;    \
        FILE *file = call;                                                          \
        if (leave(&turn, !file, -1) && file) {                                      \
            int saved = errno;                                                      \
            fclose(file);                                                           \
            errno = saved;                                                          \
            file = NULL;                                                            \
        }                                                                           \
        return file;                                                                \
    }
STREAM(fopen(const char *path, const char *mode), NEXT(fopen)(path, mode))
STREAM(fopen64(const char *path, const char *mode), NEXT(fopen64)(path, mode))
STREAM(freopen(const char *path, const char *mode, FILE *old), NEXT(freopen)(path, mode, old))
STREAM(freopen64(const char *path, const char *mode, FILE *old), NEXT(freopen64)(path, mode, old))

DIR *opendir(const char *path) {
    if (IDLE) return NEXT(opendir)(path);
    struct turn turn;
    if (!enter(&turn, LIST, 0, AT_FDCWD, path, 1, 0, NULL)) return NULL;
    DIR *found = NEXT(opendir)(path);
    if (leave(&turn, !found, -1) && found) {
        int saved = errno;
        closedir(found);
        errno = saved;
        found = NULL;
    }
    return found;
}

/* Publishing and removing */

/* The kernel's clock does not move with the engine's. What the engine has just written gets the engine's time with its
   name, because the same operation may look at its age. */
static int dated(int result, int kind, int dirfd, const char *path) {
    if (likely(!page || page->clock_ns <= 0) || result || (kind != RENAME && kind != LINK)) return result;
    int saved = errno;
    struct stat there;
    struct timespec now;
    NEXT(clock_gettime)(CLOCK_REALTIME, &now);
    if (!fstatat(dirfd, path, &there, AT_SYMLINK_NOFOLLOW) && S_ISREG(there.st_mode) &&
        there.st_mtim.tv_sec <= now.tv_sec) { /* else it is dated */
        int64_t by = page->clock_ns + there.st_mtim.tv_nsec;
        struct timespec times[2] = {{0, UTIME_OMIT}, {there.st_mtim.tv_sec + by / 1000000000, by % 1000000000}};
        utimensat(dirfd, path, times, AT_SYMLINK_NOFOLLOW);
    }
    errno = saved;
    return 0;
}

#define GATED(call, kind, flags, dirfd, path, follow, from_dirfd, from)                          \
    do {                                                                                         \
        if (IDLE) return dated(call, kind, dirfd, path);                                         \
        struct turn turn;                                                                        \
        if (!enter(&turn, kind, flags, dirfd, path, follow, from_dirfd, from)) return -1;        \
        int result = dated(call, kind, dirfd, path);                                             \
        return leave(&turn, result < 0, -1) ? -1 : result;                                       \
    } while (0)

int renameat2(int fd, const char *from, int to_fd, const char *to, unsigned flags) {
    GATED(NEXT(renameat2)(fd, from, to_fd, to, flags), RENAME, (int)flags, to_fd, to, 0, fd, from);
}
int renameat(int fd, const char *from, int to_fd, const char *to) {
    GATED(NEXT(renameat)(fd, from, to_fd, to), RENAME, 0, to_fd, to, 0, fd, from);
}
int rename(const char *from, const char *to) {
    GATED(NEXT(rename)(from, to), RENAME, 0, AT_FDCWD, to, 0, AT_FDCWD, from);
}
int linkat(int fd, const char *from, int to_fd, const char *to, int flags) {
    GATED(NEXT(linkat)(fd, from, to_fd, to, flags), LINK, flags, to_fd, to, 0, fd, from);
}
int link(const char *from, const char *to) {
    GATED(NEXT(link)(from, to), LINK, 0, AT_FDCWD, to, 0, AT_FDCWD, from);
}
int symlinkat(const char *text, int fd, const char *to) {
    GATED(NEXT(symlinkat)(text, fd, to), LINK, 0, fd, to, 0, 0, NULL);
}
int symlink(const char *text, const char *to) {
    GATED(NEXT(symlink)(text, to), LINK, 0, AT_FDCWD, to, 0, 0, NULL);
}
int unlink(const char *path) { GATED(NEXT(unlink)(path), REMOVE, 0, AT_FDCWD, path, 0, 0, NULL); }
int unlinkat(int fd, const char *path, int flags) {
    GATED(NEXT(unlinkat)(fd, path, flags), REMOVE, flags, fd, path, 0, 0, NULL);
}
int remove(const char *path) { GATED(NEXT(remove)(path), REMOVE, 0, AT_FDCWD, path, 0, 0, NULL); }
int rmdir(const char *path) { GATED(NEXT(rmdir)(path), REMOVE, 0, AT_FDCWD, path, 0, 0, NULL); }
int mkdir(const char *path, mode_t mode) { GATED(NEXT(mkdir)(path, mode), MKDIR, 0, AT_FDCWD, path, 0, 0, NULL); }
int mkdirat(int fd, const char *path, mode_t mode) {
    GATED(NEXT(mkdirat)(fd, path, mode), MKDIR, 0, fd, path, 0, 0, NULL);
}
int truncate(const char *path, off_t length) {
    GATED(NEXT(truncate)(path, length), TRUNCATE, 0, AT_FDCWD, path, 1, 0, NULL);
}
int truncate64(const char *path, off64_t length) {
    GATED(NEXT(truncate64)(path, length), TRUNCATE, 0, AT_FDCWD, path, 1, 0, NULL);
}

/* Writing: never asked about, cut short in a torn file, refused in a dead table */

#define UNTOUCHED (likely(!any_torn && !(page && page->dead)))

/* How many of `count` bytes from `at` on (-1: where the descriptor stands) may be written; what follows is in `then`. */
static size_t allowed(int fd, off64_t at, size_t count, int *then) {
    int saved = errno;
    struct stat there;
    *then = -1;
    if (page && page->armed && page->dead) {
        char link[40], path[PATH_MAX];
        snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
        ssize_t length = readlink(link, path, sizeof path - 1);
        if (length > 0 && (path[length] = 0, below(path))) {
            *then = page->dead;
            return 0;
        }
    }
    if (any_torn && !fstat(fd, &there) && S_ISREG(there.st_mode))
        for (int i = 0; i < 8; i++) {
            struct torn *each = &torn[i];
            if (each->generation != page->generation || each->dev != there.st_dev || each->ino != there.st_ino)
                continue;
            int flags = fcntl(fd, F_GETFL);
            if (at < 0) at = flags & O_APPEND ? there.st_size : lseek64(fd, 0, SEEK_CUR);
            if (at + (int64_t)count <= each->length) break;
            *then = each->then;
            errno = saved;
            return at < each->length ? (size_t)(each->length - at) : 0;
        }
    errno = saved;
    return count;
}

static ssize_t cut_short(int then) {
    if (then == 0) end_actor(NULL);
    errno = then;
    return -1;
}

static ssize_t writing(int fd, const void *data, size_t count, off64_t at) {
    int then;
    size_t room = allowed(fd, at, count, &then);
    if (room || then < 0) {
        ssize_t put = at < 0 ? NEXT(write)(fd, data, room) : NEXT(pwrite64)(fd, data, room, at);
        if (then < 0 || (then && put > 0)) return put; /* a full disk takes what fits, and refuses the next */
    }
    return cut_short(then);
}

/* Vectors are written piece by piece where something may be cut, and in one call otherwise. */
static ssize_t gathering(int fd, const struct iovec *pieces, int count, off64_t at) {
    ssize_t total = 0;
    for (int i = 0; i < count; i++) {
        if (!pieces[i].iov_len) continue;
        ssize_t put = writing(fd, pieces[i].iov_base, pieces[i].iov_len, at < 0 ? -1 : at + total);
        if (put < 0) return total ? total : -1;
        total += put;
        if ((size_t)put < pieces[i].iov_len) break;
    }
    return total;
}

ssize_t write(int fd, const void *data, size_t count) {
    return UNTOUCHED ? NEXT(write)(fd, data, count) : writing(fd, data, count, -1);
}
ssize_t pwrite(int fd, const void *data, size_t count, off_t at) {
    return UNTOUCHED ? NEXT(pwrite)(fd, data, count, at) : writing(fd, data, count, at);
}
ssize_t pwrite64(int fd, const void *data, size_t count, off64_t at) {
    return UNTOUCHED ? NEXT(pwrite64)(fd, data, count, at) : writing(fd, data, count, at);
}
ssize_t writev(int fd, const struct iovec *pieces, int count) {
    return UNTOUCHED ? NEXT(writev)(fd, pieces, count) : gathering(fd, pieces, count, -1);
}
ssize_t pwritev(int fd, const struct iovec *pieces, int count, off_t at) {
    return UNTOUCHED ? NEXT(pwritev)(fd, pieces, count, at) : gathering(fd, pieces, count, at);
}
ssize_t pwritev64(int fd, const struct iovec *pieces, int count, off64_t at) {
    return UNTOUCHED ? NEXT(pwritev64)(fd, pieces, count, at) : gathering(fd, pieces, count, at);
}
static int resizing(int fd, off64_t length) {
    int then;
    size_t room = allowed(fd, 0, length < 0 ? 0 : (size_t)length, &then);
    if (then < 0) return NEXT(ftruncate64)(fd, length);
    if (room) NEXT(ftruncate64)(fd, (off64_t)room);
    return (int)cut_short(then);
}
int ftruncate(int fd, off_t length) { return UNTOUCHED ? NEXT(ftruncate)(fd, length) : resizing(fd, length); }
int ftruncate64(int fd, off64_t length) { return UNTOUCHED ? NEXT(ftruncate64)(fd, length) : resizing(fd, length); }

/* The clock */

static int64_t shift(void) { return page ? page->clock_ns : 0; }

int clock_gettime(clockid_t clock, struct timespec *now) {
    int result = NEXT(clock_gettime)(clock, now);
    int64_t by = shift();
    if (likely(!by) || result || (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE && clock != CLOCK_TAI))
        return result;
    int64_t part = now->tv_nsec + by % 1000000000;
    now->tv_sec += by / 1000000000;
    if (part < 0) part += 1000000000, now->tv_sec--;
    if (part >= 1000000000) part -= 1000000000, now->tv_sec++;
    now->tv_nsec = part;
    return 0;
}
int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    if (likely(!shift())) return NEXT(gettimeofday)(now, zone);
    struct timespec exact;
    if (clock_gettime(CLOCK_REALTIME, &exact)) return -1;
    now->tv_sec = exact.tv_sec;
    now->tv_usec = exact.tv_nsec / 1000;
    return 0;
}
time_t time(time_t *now) {
    if (likely(!shift())) return NEXT(time)(now);
    struct timespec exact;
    if (clock_gettime(CLOCK_REALTIME, &exact)) return (time_t)-1;
    if (now) *now = exact.tv_sec;
    return exact.tv_sec;
}
int timespec_get(struct timespec *now, int base) {
    if (likely(!shift()) || base != TIME_UTC) return NEXT(timespec_get)(now, base);
    return clock_gettime(CLOCK_REALTIME, now) ? 0 : base;
}

/* Who makes system calls by number comes here too */

long syscall(long number, ...) {
    long a[6];
    va_list rest;
    va_start(rest, number);
    for (int i = 0; i < 6; i++) a[i] = va_arg(rest, long);
    va_end(rest);
#define PATH_AT(i) ((const char *)a[i])
    switch (number) {
    case SYS_openat: return opening((int)a[0], PATH_AT(1), (int)a[2], (mode_t)a[3]);
    case SYS_renameat2: return renameat2((int)a[0], PATH_AT(1), (int)a[2], PATH_AT(3), (unsigned)a[4]);
    case SYS_linkat: return linkat((int)a[0], PATH_AT(1), (int)a[2], PATH_AT(3), (int)a[4]);
    case SYS_symlinkat: return symlinkat(PATH_AT(0), (int)a[1], PATH_AT(2));
    case SYS_unlinkat: return unlinkat((int)a[0], PATH_AT(1), (int)a[2]);
    case SYS_mkdirat: return mkdirat((int)a[0], PATH_AT(1), (mode_t)a[2]);
    case SYS_truncate: return truncate(PATH_AT(0), (off_t)a[1]);
    case SYS_ftruncate: return ftruncate((int)a[0], (off_t)a[1]);
    case SYS_write: return write((int)a[0], (const void *)a[1], (size_t)a[2]);
    case SYS_pwrite64: return pwrite64((int)a[0], (const void *)a[1], (size_t)a[2], (off64_t)a[3]);
    case SYS_writev: return writev((int)a[0], (const struct iovec *)a[1], (int)a[2]);
    case SYS_clock_gettime: return clock_gettime((clockid_t)a[0], (struct timespec *)a[1]);
    case SYS_gettimeofday: return gettimeofday((struct timeval *)a[0], (void *)a[1]);
#ifdef SYS_renameat
    case SYS_renameat: return renameat((int)a[0], PATH_AT(1), (int)a[2], PATH_AT(3));
#endif
#ifdef SYS_open /* machines that still have the old calls */
    case SYS_open: return opening(AT_FDCWD, PATH_AT(0), (int)a[1], (mode_t)a[2]);
    case SYS_creat: return creat(PATH_AT(0), (mode_t)a[1]);
    case SYS_rename: return rename(PATH_AT(0), PATH_AT(1));
    case SYS_link: return link(PATH_AT(0), PATH_AT(1));
    case SYS_symlink: return symlink(PATH_AT(0), PATH_AT(1));
    case SYS_unlink: return unlink(PATH_AT(0));
    case SYS_rmdir: return rmdir(PATH_AT(0));
    case SYS_mkdir: return mkdir(PATH_AT(0), (mode_t)a[1]);
    case SYS_time: return time((time_t *)a[0]);
#endif
    }
    return NEXT(syscall)(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
