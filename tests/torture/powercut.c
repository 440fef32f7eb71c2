/* What a power cut takes away: a log of what was written to a record and what was synced.

   Preloaded into a daemon, it writes down every change of the record's files (the database, its
   -wal, its -journal and its .lock), of their names, and every sync that came back. From that log
   cut.py knows what a disk may hold after the power is cut. The -shm is left out: it is memory,
   and SQLite makes it anew.

   POWERCUT_RECORD  the absolute path of the database
   POWERCUT_LOG     the log, which is appended to
   POWERCUT_AT      optional, FILE:N: end the process by SIGKILL in the N-th change or sync of
                    FILE (db, wal, journal, lock, dir or any), before it happens
   POWERCUT_FAIL    optional, a path: while it exists, syncs fail with EIO

   A way to change the files that is not written down here is logged as one, so that it can't be
   overlooked. System calls are made directly: what stands here under their names is ours. */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
#define FILES 4
#define DIRECTORY FILES
#define NOT_OURS (-1)
#define MOST_DESCRIPTORS 65536

enum { CREATE = 'C', WRITE = 'W', TRUNCATE = 'T', SYNC = 'S', FAILED = 'F', UNLINK = 'U', UNKNOWN = '?' };

/* As cut.py reads it: little-endian, 32 bytes, then `length` bytes of data if it is a WRITE. */
struct entry {
    uint8_t what, file;
    uint8_t unused[6];
    uint64_t inode, offset, length;
};

static const char *const endings[FILES] = {"", "-wal", "-journal", ".lock"};
static const char *const names[FILES + 1] = {"db", "wal", "journal", "lock", "dir"};
static char paths[FILES + 1][4096];
static struct { int file; uint64_t inode; } descriptors[MOST_DESCRIPTORS];
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static int log_descriptor = -1;
static int dies_at_file = NOT_OURS, dies_at_any;
static long changes_left = -1;
static const char *failing;

static void die(void) { syscall(SYS_kill, getpid(), SIGKILL); }

__attribute__((constructor)) static void begin(void) {
    const char *record = getenv("POWERCUT_RECORD"), *log = getenv("POWERCUT_LOG");
    const char *at = getenv("POWERCUT_AT");
    for (int i = 0; i < MOST_DESCRIPTORS; i++) descriptors[i].file = NOT_OURS;
    if (!record || !log || strlen(record) > 4000) return;
    for (int i = 0; i < FILES; i++) strcat(strcpy(paths[i], record), endings[i]);
    strcpy(paths[DIRECTORY], record);
    *strrchr(paths[DIRECTORY], '/') = 0;
    failing = getenv("POWERCUT_FAIL");
    if (at && strchr(at, ':')) {
        size_t length = strchr(at, ':') - at;
        dies_at_any = !strncmp(at, "any", length);
        for (int i = 0; i <= DIRECTORY; i++)
            if (!strncmp(at, names[i], length) && strlen(names[i]) == length) dies_at_file = i;
        changes_left = atol(at + length + 1);
    }
    log_descriptor = syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (log_descriptor < 0) die();
}

static int file_of_path(const char *path) {
    if (log_descriptor < 0 || !path) return NOT_OURS;
    for (int i = 0; i <= DIRECTORY; i++)
        if (!strcmp(path, paths[i])) return i;
    return NOT_OURS;
}

static int file_of(int descriptor) {
    if (descriptor < 0 || descriptor >= MOST_DESCRIPTORS) return NOT_OURS;
    return descriptors[descriptor].file;
}

/* An entry is whole or, where the process is killed in it, the last and cut short. */
static void note(int what, int file, uint64_t inode, uint64_t offset, uint64_t length, const void *data) {
    struct entry entry = {.what = what, .file = file, .inode = inode, .offset = offset, .length = length};
    struct iovec parts[2] = {{&entry, sizeof entry}, {(void *)data, data ? length : 0}};
    ssize_t whole = sizeof entry + (data ? length : 0);
    if (syscall(SYS_writev, log_descriptor, parts, 2) != whole) die();
}

static void note_of(int what, int descriptor, uint64_t offset, uint64_t length, const void *data) {
    note(what, descriptors[descriptor].file, descriptors[descriptor].inode, offset, length, data);
}

static void count(int file) {
    if (changes_left < 0 || !(dies_at_any || file == dies_at_file)) return;
    if (--changes_left <= 0) die();
}

/* Opening and closing */

static int opened(int directory, const char *path, int flags, mode_t mode) {
    int file = directory == AT_FDCWD || (path && *path == '/') ? file_of_path(path) : NOT_OURS;
    if (file == NOT_OURS) return syscall(SYS_openat, directory, path, flags, mode);
    pthread_mutex_lock(&turn);
    struct stat found;
    int was_there = syscall(SYS_faccessat, AT_FDCWD, path, F_OK) == 0;
    int descriptor = syscall(SYS_openat, directory, path, flags, mode);
    int saved = errno;
    if (descriptor >= MOST_DESCRIPTORS) die();
    if (descriptor >= 0 && fstat(descriptor, &found) == 0) {
        descriptors[descriptor].file = file;
        descriptors[descriptor].inode = found.st_ino;
        if (!was_there) note_of(CREATE, descriptor, 0, 0, NULL);
        if (flags & (O_TRUNC | O_APPEND)) note_of(UNKNOWN, descriptor, 1, 0, NULL);
    }
    pthread_mutex_unlock(&turn);
    errno = saved;
    return descriptor;
}

static mode_t mode_of(int flags, va_list rest) {
    return flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;
}

#define OPENED(directory, path, flags)                          \
    va_list rest;                                               \
    va_start(rest, flags);                                      \
    mode_t mode = mode_of(flags, rest);                         \
    va_end(rest);                                               \
    return opened(directory, path, flags, mode)

EXPORT int open(const char *path, int flags, ...) { OPENED(AT_FDCWD, path, flags); }
EXPORT int open64(const char *path, int flags, ...) { OPENED(AT_FDCWD, path, flags); }
EXPORT int openat(int directory, const char *path, int flags, ...) { OPENED(directory, path, flags); }
EXPORT int openat64(int directory, const char *path, int flags, ...) { OPENED(directory, path, flags); }

EXPORT int close(int descriptor) {
    if (file_of(descriptor) != NOT_OURS) descriptors[descriptor].file = NOT_OURS;
    return syscall(SYS_close, descriptor);
}

/* Writing. The entry comes first: what the process didn't live to do is lost in some cuts. */

static ssize_t written(int descriptor, const void *data, size_t length, off_t offset, int moves) {
    pthread_mutex_lock(&turn);
    note_of(WRITE, descriptor, offset, length, data);
    count(file_of(descriptor));
    ssize_t done = moves ? syscall(SYS_write, descriptor, data, length)
                         : syscall(SYS_pwrite64, descriptor, data, length, offset);
    int saved = errno;
    /* A write that failed, or fell short, is a disk that is full: that is another part's. */
    if (done != (ssize_t)length) note_of(UNKNOWN, descriptor, 2, 0, NULL);
    pthread_mutex_unlock(&turn);
    errno = saved;
    return done;
}

EXPORT ssize_t pwrite(int descriptor, const void *data, size_t length, off_t offset) {
    if (file_of(descriptor) == NOT_OURS) return syscall(SYS_pwrite64, descriptor, data, length, offset);
    return written(descriptor, data, length, offset, 0);
}

EXPORT ssize_t pwrite64(int descriptor, const void *data, size_t length, off_t offset) {
    return pwrite(descriptor, data, length, offset);
}

EXPORT ssize_t write(int descriptor, const void *data, size_t length) {
    if (file_of(descriptor) == NOT_OURS) return syscall(SYS_write, descriptor, data, length);
    return written(descriptor, data, length, syscall(SYS_lseek, descriptor, 0, SEEK_CUR), 1);
}

EXPORT int ftruncate(int descriptor, off_t length) {
    if (file_of(descriptor) == NOT_OURS) return syscall(SYS_ftruncate, descriptor, length);
    pthread_mutex_lock(&turn);
    note_of(TRUNCATE, descriptor, length, 0, NULL);
    count(file_of(descriptor));
    int failed = syscall(SYS_ftruncate, descriptor, length);
    pthread_mutex_unlock(&turn);
    return failed;
}

EXPORT int ftruncate64(int descriptor, off_t length) { return ftruncate(descriptor, length); }

/* Syncing */

static int synced(int descriptor, long call) {
    if (file_of(descriptor) == NOT_OURS) return syscall(call, descriptor);
    pthread_mutex_lock(&turn);
    count(file_of(descriptor));
    int failed = 0, saved = 0;
    if (failing && syscall(SYS_faccessat, AT_FDCWD, failing, F_OK) == 0) {
        failed = -1, saved = EIO;
    } else {
        failed = syscall(call, descriptor);
        saved = errno;
    }
    note_of(failed ? FAILED : SYNC, descriptor, 0, 0, NULL);
    pthread_mutex_unlock(&turn);
    errno = saved;
    return failed;
}

EXPORT int fsync(int descriptor) { return synced(descriptor, SYS_fsync); }
EXPORT int fdatasync(int descriptor) { return synced(descriptor, SYS_fdatasync); }

/* Names */

static int unlinked(int directory, const char *path, int flags) {
    int file = directory == AT_FDCWD || (path && *path == '/') ? file_of_path(path) : NOT_OURS;
    if (file == NOT_OURS) return syscall(SYS_unlinkat, directory, path, flags);
    pthread_mutex_lock(&turn);
    count(DIRECTORY);
    int failed = syscall(SYS_unlinkat, directory, path, flags);
    int saved = errno;
    if (!failed) note(UNLINK, file, 0, 0, 0, NULL);
    pthread_mutex_unlock(&turn);
    errno = saved;
    return failed;
}

EXPORT int unlink(const char *path) { return unlinked(AT_FDCWD, path, 0); }
EXPORT int unlinkat(int directory, const char *path, int flags) { return unlinked(directory, path, flags); }

/* What SQLite doesn't do to these files; if it once does, the log says so. */

static void unknown(int file, int why) {
    if (file != NOT_OURS) note(UNKNOWN, file, 0, why, 0, NULL);
}

EXPORT int rename(const char *from, const char *to) {
    unknown(file_of_path(from), 3);
    unknown(file_of_path(to), 3);
    return syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

EXPORT ssize_t writev(int descriptor, const struct iovec *parts, int count_of_parts) {
    unknown(file_of(descriptor), 4);
    return syscall(SYS_writev, descriptor, parts, count_of_parts);
}

EXPORT int fallocate(int descriptor, int mode, off_t offset, off_t length) {
    unknown(file_of(descriptor), 5);
    return syscall(SYS_fallocate, descriptor, mode, offset, length);
}

EXPORT int fallocate64(int descriptor, int mode, off_t offset, off_t length) {
    return fallocate(descriptor, mode, offset, length);
}

EXPORT int posix_fallocate(int descriptor, off_t offset, off_t length) {
    return fallocate(descriptor, 0, offset, length) ? errno : 0;
}

EXPORT int posix_fallocate64(int descriptor, off_t offset, off_t length) {
    return posix_fallocate(descriptor, offset, length);
}

EXPORT void *mmap(void *address, size_t length, int protection, int flags, int descriptor, off_t offset) {
    if ((protection & PROT_WRITE) && (flags & MAP_SHARED) && !(flags & MAP_ANONYMOUS))
        unknown(file_of(descriptor), 6);
    return (void *)syscall(SYS_mmap, address, length, protection, flags, descriptor, offset);
}

EXPORT void *mmap64(void *address, size_t length, int protection, int flags, int descriptor, off_t offset) {
    return mmap(address, length, protection, flags, descriptor, offset);
}
