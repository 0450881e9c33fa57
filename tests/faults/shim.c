/* Counts the effects on disk of a program and of every program that it starts, and kills one of
 * them, or lets a call fail, at the one that is asked for.
 *
 * Loaded with LD_PRELOAD. All processes of a run share one mapped file (FAULTS_STATE), in which
 * the test says what is to happen and finds what happened. An effect is a call that changes
 * something below the folder that the test names; what happens at one, happens before the call.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <string.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum mode { OFF, COUNT, KILL_ALL, KILL_GITMEM, KILL_GIT, FAIL, SHORT, FULL };
enum { PIDS = 248, ENTRIES = 8192, WIDTH = 192 };

/* The same layout is in shared.py. */
struct state {
    int mode, target, count, gitmem, fired, logged, pids, full_by;
    char below[992];
    int pid[PIDS];
    char pad[32];
    char log[ENTRIES][WIDTH];
};

static struct state *shared;
static char role[32] = "gitmem";

#define REAL(type, name, ...)                                                                  \
    static type (*real)(__VA_ARGS__);                                                          \
    if (!real) real = (type(*)(__VA_ARGS__))dlsym(RTLD_NEXT, name)

/* The name of git's command: the first word that is no option of git itself. */
static void read_role(void)
{
    static char line[65536];
    int fd = syscall(SYS_openat, AT_FDCWD, "/proc/self/cmdline", O_RDONLY);
    long size = fd < 0 ? 0 : syscall(SYS_read, fd, line, sizeof line - 1);
    if (fd >= 0) syscall(SYS_close, fd);
    if (size <= 0) return;
    line[size] = 0;
    const char *base = strrchr(line, '/') ? strrchr(line, '/') + 1 : line;
    if (strncmp(base, "git", 3)) return; /* gitmem, as the server that tests start */
    char *word = line + strlen(line) + 1;
    while (word < line + size && *word == '-') {
        if (!strcmp(word, "-c")) word += strlen(word) + 1;
        word += strlen(word) + 1;
    }
    snprintf(role, sizeof role, "git %s", word < line + size ? word : "");
}

__attribute__((constructor)) static void begin(void)
{
    const char *path = getenv("FAULTS_STATE");
    int fd = path ? (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC) : -1;
    if (fd < 0) return;
    void *at = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    syscall(SYS_close, fd);
    if (at == MAP_FAILED) return;
    read_role();
    shared = at;
    if (shared->mode == OFF) return;
    int n = __atomic_fetch_add(&shared->pids, 1, __ATOMIC_SEQ_CST);
    if (n < PIDS) shared->pid[n] = getpid();
}

/* The absolute path of what a call names; of a file that is open where `path` is NULL. */
static int absolute(char *out, size_t room, int dir, const char *path)
{
    char link[64];
    long size = 0;
    if (!path || path[0] != '/') {
        if (dir == AT_FDCWD) strcpy(link, "/proc/self/cwd");
        else snprintf(link, sizeof link, "/proc/self/fd/%d", dir);
        size = syscall(SYS_readlink, link, out, room - 1);
        if (size < 0) return 0;
    }
    out[size] = 0;
    if (path) snprintf(out + size, room - size, "%s%s", size ? "/" : "", path);
    return 1;
}

/* End the other processes of the run. A number is used again one day: only those that read the
 * same state are of this run. */
static void kill_others(void)
{
    const char *mine = getenv("FAULTS_STATE");
    static char env[65536];
    for (int n = 0; n < shared->pids && n < PIDS; n++) {
        int pid = shared->pid[n];
        char path[64];
        if (pid == getpid() || pid == shared->gitmem) continue;
        snprintf(path, sizeof path, "/proc/%d/environ", pid);
        int fd = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY);
        if (fd < 0) continue;
        long size = syscall(SYS_read, fd, env, sizeof env);
        syscall(SYS_close, fd);
        if (size > 0 && memmem(env, size, mine, strlen(mine))) syscall(SYS_kill, pid, SIGKILL);
    }
}

static int act(int reason)
{
    int is_gitmem = getpid() == shared->gitmem;
    switch (shared->mode) {
    case KILL_ALL:
        shared->fired = 1;
        if (!is_gitmem) syscall(SYS_kill, shared->gitmem, SIGKILL);
        kill_others();
        syscall(SYS_kill, getpid(), SIGKILL);
        return 0;
    case KILL_GITMEM:
        shared->fired = 1;
        syscall(SYS_kill, shared->gitmem, SIGKILL);
        return 0;
    case KILL_GIT:
        if (is_gitmem) return 0;
        shared->fired = 1;
        syscall(SYS_kill, getpid(), SIGKILL);
        return 0;
    case FAIL:
        shared->fired = 1;
        return reason;
    case SHORT:
    case FULL:
        return -1;
    }
    return 0;
}

/* Whether to go on (0), to fail with an errno, or to write a part only (-1). */
static int point_at(const char *call, int reason, int dir, const char *path)
{
    char whole[4096];
    int saved = errno;
    if (!shared || shared->mode == OFF || !absolute(whole, sizeof whole, dir, path)) goto on;
    size_t length = strlen(shared->below);
    if (!length || strncmp(whole, shared->below, length) || whole[length] != '/') goto on;
    int n = __atomic_fetch_add(&shared->count, 1, __ATOMIC_SEQ_CST);
    if (n < ENTRIES) {
        snprintf(shared->log[n], WIDTH, "%s\t%s\t%s", role, call, whole + length + 1);
        __atomic_fetch_add(&shared->logged, 1, __ATOMIC_SEQ_CST);
    }
    int what = n == shared->target ? act(reason) : 0;
    errno = saved;
    return what;
on:
    errno = saved;
    return 0;
}

static int is_there(int dir, const char *path)
{
    struct stat found;
    int saved = errno;
    int there = !syscall(SYS_newfstatat, dir, path, &found, AT_SYMLINK_NOFOLLOW);
    errno = saved;
    return there;
}

#define FAIL_IF(what)                                                                          \
    do {                                                                                       \
        int reason_ = (what);                                                                  \
        if (reason_ > 0) {                                                                     \
            errno = reason_;                                                                   \
            return -1;                                                                         \
        }                                                                                      \
    } while (0)

/* --- opening: an effect where it makes or empties a file ------------------------------------ */

static int opens(int dir, const char *path, int flags)
{
    if (!(flags & (O_CREAT | O_TRUNC))) return 0;
    if ((flags & O_EXCL) && is_there(dir, path)) return 0;
    return point_at("open", ENOSPC, dir, path);
}

#define MODE_OF(flags, mode)                                                                   \
    int mode = 0;                                                                              \
    if ((flags) & (O_CREAT | O_TMPFILE)) {                                                     \
        va_list rest;                                                                          \
        va_start(rest, flags);                                                                 \
        mode = va_arg(rest, int);                                                              \
        va_end(rest);                                                                          \
    }

#define OPEN(name)                                                                             \
    int name(const char *path, int flags, ...)                                                 \
    {                                                                                          \
        MODE_OF(flags, mode)                                                                   \
        REAL(int, #name, const char *, int, ...);                                              \
        FAIL_IF(opens(AT_FDCWD, path, flags));                                                 \
        return real(path, flags, mode);                                                        \
    }
#define OPENAT(name)                                                                           \
    int name(int dir, const char *path, int flags, ...)                                        \
    {                                                                                          \
        MODE_OF(flags, mode)                                                                   \
        REAL(int, #name, int, const char *, int, ...);                                         \
        FAIL_IF(opens(dir, path, flags));                                                      \
        return real(dir, path, flags, mode);                                                   \
    }
#define FOPEN(name)                                                                            \
    FILE *name(const char *path, const char *how)                                              \
    {                                                                                          \
        REAL(FILE *, #name, const char *, const char *);                                       \
        int reason = how[0] == 'r' ? 0 : point_at("open", ENOSPC, AT_FDCWD, path);             \
        if (reason > 0) {                                                                      \
            errno = reason;                                                                    \
            return NULL;                                                                       \
        }                                                                                      \
        return real(path, how);                                                                \
    }
OPEN(open)
OPEN(open64)
OPENAT(openat)
OPENAT(openat64)
FOPEN(fopen)
FOPEN(fopen64)

/* --- writing -------------------------------------------------------------------------------- */

/* How many bytes of `size` to write: all of them, or half; -1 with errno where it fails. */
static ssize_t writes(const char *call, int fd, size_t size)
{
    struct stat found;
    int saved = errno;
    int is_file = !fstat(fd, &found) && S_ISREG(found.st_mode);
    errno = saved;
    if (!is_file) return size;
    if (shared && shared->mode == FULL && shared->full_by == getpid()) {
        shared->full_by = 0;
        errno = ENOSPC;
        return -1;
    }
    int what = point_at(call, EIO, fd, NULL);
    FAIL_IF(what);
    if (what == 0 || size < 2) return size;
    shared->fired = 1;
    if (shared->mode == FULL) shared->full_by = getpid();
    return size / 2;
}

ssize_t write(int fd, const void *data, size_t size)
{
    REAL(ssize_t, "write", int, const void *, size_t);
    ssize_t part = writes("write", fd, size);
    return part < 0 ? -1 : real(fd, data, part);
}

#define PWRITE(name, offset)                                                                   \
    ssize_t name(int fd, const void *data, size_t size, offset at)                             \
    {                                                                                          \
        REAL(ssize_t, #name, int, const void *, size_t, offset);                               \
        ssize_t part = writes("write", fd, size);                                              \
        return part < 0 ? -1 : real(fd, data, part, at);                                       \
    }
PWRITE(pwrite, off_t)
PWRITE(pwrite64, off64_t)

ssize_t writev(int fd, const struct iovec *parts, int count)
{
    REAL(ssize_t, "writev", int, const struct iovec *, int);
    ssize_t part = writes("write", fd, count > 1 ? 2 : 1);
    return part < 0 ? -1 : real(fd, parts, part == 1 ? 1 : count);
}

/* What stdio writes at last, it writes inside of the C library. */
static int flushes(FILE *file)
{
    struct stat found;
    int saved = errno;
    int counts = file && __fwritable(file) && __fpending(file) > 0 && fileno(file) >= 0 &&
                 !fstat(fileno(file), &found) && S_ISREG(found.st_mode);
    errno = saved;
    return counts ? point_at("write", EIO, fileno(file), NULL) : 0;
}

int fflush(FILE *file)
{
    REAL(int, "fflush", FILE *);
    FAIL_IF(flushes(file));
    return real(file);
}

int fclose(FILE *file)
{
    REAL(int, "fclose", FILE *);
    int reason = flushes(file);
    if (reason <= 0) return real(file);
    __fpurge(file);
    real(file);
    errno = reason;
    return EOF;
}

#define TRUNCATE(name, type, subject, dir, path)                                               \
    int name(type subject, off_t size)                                                         \
    {                                                                                          \
        REAL(int, #name, type, off_t);                                                         \
        FAIL_IF(point_at("truncate", EIO, dir, path));                                         \
        return real(subject, size);                                                            \
    }
TRUNCATE(truncate, const char *, path, AT_FDCWD, path)
TRUNCATE(truncate64, const char *, path, AT_FDCWD, path)
TRUNCATE(ftruncate, int, fd, fd, NULL)
TRUNCATE(ftruncate64, int, fd, fd, NULL)

#define SYNC(name)                                                                             \
    int name(int fd)                                                                           \
    {                                                                                          \
        REAL(int, #name, int);                                                                 \
        FAIL_IF(point_at("fsync", EIO, fd, NULL));                                             \
        return real(fd);                                                                       \
    }
SYNC(fsync)
SYNC(fdatasync)

int sync_file_range(int fd, off64_t from, off64_t size, unsigned flags)
{
    REAL(int, "sync_file_range", int, off64_t, off64_t, unsigned);
    FAIL_IF(point_at("fsync", EIO, fd, NULL));
    return real(fd, from, size, flags);
}

/* --- names ---------------------------------------------------------------------------------- */

int rename(const char *from, const char *to)
{
    REAL(int, "rename", const char *, const char *);
    FAIL_IF(is_there(AT_FDCWD, from) ? point_at("rename", ENOSPC, AT_FDCWD, to) : 0);
    return real(from, to);
}

int renameat(int dir, const char *from, int there, const char *to)
{
    REAL(int, "renameat", int, const char *, int, const char *);
    FAIL_IF(is_there(dir, from) ? point_at("rename", ENOSPC, there, to) : 0);
    return real(dir, from, there, to);
}

int renameat2(int dir, const char *from, int there, const char *to, unsigned flags)
{
    REAL(int, "renameat2", int, const char *, int, const char *, unsigned);
    FAIL_IF(is_there(dir, from) ? point_at("rename", ENOSPC, there, to) : 0);
    return real(dir, from, there, to, flags);
}

int link(const char *from, const char *to)
{
    REAL(int, "link", const char *, const char *);
    FAIL_IF(point_at("link", ENOSPC, AT_FDCWD, to));
    return real(from, to);
}

int linkat(int dir, const char *from, int there, const char *to, int flags)
{
    REAL(int, "linkat", int, const char *, int, const char *, int);
    FAIL_IF(point_at("link", ENOSPC, there, to));
    return real(dir, from, there, to, flags);
}

int symlink(const char *what, const char *path)
{
    REAL(int, "symlink", const char *, const char *);
    FAIL_IF(point_at("link", ENOSPC, AT_FDCWD, path));
    return real(what, path);
}

int unlink(const char *path)
{
    REAL(int, "unlink", const char *);
    FAIL_IF(is_there(AT_FDCWD, path) ? point_at("unlink", EACCES, AT_FDCWD, path) : 0);
    return real(path);
}

int unlinkat(int dir, const char *path, int flags)
{
    REAL(int, "unlinkat", int, const char *, int);
    FAIL_IF(is_there(dir, path) ? point_at("unlink", EACCES, dir, path) : 0);
    return real(dir, path, flags);
}

int rmdir(const char *path)
{
    REAL(int, "rmdir", const char *);
    FAIL_IF(is_there(AT_FDCWD, path) ? point_at("rmdir", EACCES, AT_FDCWD, path) : 0);
    return real(path);
}

int mkdir(const char *path, mode_t mode)
{
    REAL(int, "mkdir", const char *, mode_t);
    FAIL_IF(is_there(AT_FDCWD, path) ? 0 : point_at("mkdir", ENOSPC, AT_FDCWD, path));
    return real(path, mode);
}

int mkdirat(int dir, const char *path, mode_t mode)
{
    REAL(int, "mkdirat", int, const char *, mode_t);
    FAIL_IF(is_there(dir, path) ? 0 : point_at("mkdir", ENOSPC, dir, path));
    return real(dir, path, mode);
}

int chmod(const char *path, mode_t mode)
{
    REAL(int, "chmod", const char *, mode_t);
    FAIL_IF(point_at("chmod", EACCES, AT_FDCWD, path));
    return real(path, mode);
}

int fchmod(int fd, mode_t mode)
{
    REAL(int, "fchmod", int, mode_t);
    FAIL_IF(point_at("chmod", EACCES, fd, NULL));
    return real(fd, mode);
}
