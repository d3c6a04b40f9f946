/*
 * Restricts itself with Landlock and becomes a command: the executor of a sandbox, and with it all that it starts.
 *
 *   restrict FOLDER... -- COMMAND ARGUMENT...
 *
 * Files can be written, created, moved and removed below the folders alone; no device can be created anywhere. Abstract
 * sockets and signals reach what was started by this program alone. Reading and executing are left to the mount
 * namespace. A kernel without Landlock, or without one of its parts, restricts what it knows. Exit code 126: the rules
 * could not be set; 127: the command could not be executed. A folder that is not there has no rule.
 *
 * It is linked without a library, so that it runs wherever the sandbox does. build.sh writes the programs beside this file.
 */
typedef unsigned int u32;
typedef unsigned long long u64;

/* A fifth argument is always 0, which prctl demands. */
#if defined(__x86_64__)
#define SYS_openat 257
#define SYS_prctl 157
#define SYS_execve 59
#define SYS_close 3
#define SYS_write 1
#define SYS_exit 60
static long call(long n, long a, long b, long c, long d) {
  long result;
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = 0;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8)
                   : "rcx", "r11", "memory");
  return result;
}
__asm__(".globl _start\n_start:\n  mov %rsp, %rdi\n  and $-16, %rsp\n  call begin\n");
#elif defined(__aarch64__)
#define SYS_openat 56
#define SYS_prctl 167
#define SYS_execve 221
#define SYS_close 57
#define SYS_write 64
#define SYS_exit 93
static long call(long n, long a, long b, long c, long d) {
  register long x8 __asm__("x8") = n;
  register long x0 __asm__("x0") = a;
  register long x1 __asm__("x1") = b;
  register long x2 __asm__("x2") = c;
  register long x3 __asm__("x3") = d;
  register long x4 __asm__("x4") = 0;
  __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4) : "memory");
  return x0;
}
__asm__(".globl _start\n_start:\n  mov x0, sp\n  bl begin\n");
#else
#error "no system calls are known for this architecture"
#endif

/* The same numbers on every architecture. */
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_add_rule 445
#define SYS_landlock_restrict_self 446

#define AT_FDCWD (-100)
#define O_PATH_CLOEXEC (010000000 | 02000000)
#define PR_SET_NO_NEW_PRIVS 38
#define ENOENT 2
#define ENOSYS 38
#define EOPNOTSUPP 95

/* <linux/landlock.h> */
struct ruleset { u64 handled_access_fs, handled_access_net, scoped; };
struct __attribute__((packed)) path_beneath { u64 allowed_access; int parent_fd; };
#define CREATE_RULESET_VERSION 1
#define RULE_PATH_BENEATH 1
#define WRITE_FILE (1ULL << 1)
#define REMOVE_DIR (1ULL << 4)
#define REMOVE_FILE (1ULL << 5)
#define MAKE_CHAR (1ULL << 6)
#define MAKE_DIR (1ULL << 7)
#define MAKE_REG (1ULL << 8)
#define MAKE_SOCK (1ULL << 9)
#define MAKE_FIFO (1ULL << 10)
#define MAKE_BLOCK (1ULL << 11)
#define MAKE_SYM (1ULL << 12)
#define REFER (1ULL << 13)
#define TRUNCATE (1ULL << 14)
#define SCOPE_ABSTRACT_UNIX_SOCKET (1ULL << 0)
#define SCOPE_SIGNAL (1ULL << 1)

static void fail(const char *message) {
  long length = 0;
  while (message[length] != 0) length++;
  call(SYS_write, 2, (long)message, length, 0);
  call(SYS_exit, 126, 0, 0, 0);
}

static int is_separator(const char *text) { return text[0] == '-' && text[1] == '-' && text[2] == 0; }

static void restrict_self(char **folders, long count, long version) {
  u64 devices = MAKE_CHAR | MAKE_BLOCK;
  u64 writes = WRITE_FILE | REMOVE_DIR | REMOVE_FILE | MAKE_DIR | MAKE_REG | MAKE_SOCK | MAKE_FIFO | MAKE_SYM;
  if (version >= 2) writes |= REFER;
  if (version >= 3) writes |= TRUNCATE;
  struct ruleset rules = {writes | devices, 0, version >= 6 ? SCOPE_ABSTRACT_UNIX_SOCKET | SCOPE_SIGNAL : 0};
  /* Older kernels know fewer fields, and refuse longer structures only if the rest is not zero. */
  long set = call(SYS_landlock_create_ruleset, (long)&rules, sizeof rules, 0, 0);
  if (set < 0) fail("restrict: Landlock refused the rules\n");
  for (long at = 0; at < count; at++) {
    long folder = call(SYS_openat, AT_FDCWD, (long)folders[at], O_PATH_CLOEXEC, 0);
    if (folder == -ENOENT) continue;
    struct path_beneath rule = {writes, (int)folder};
    if (folder < 0 || call(SYS_landlock_add_rule, set, RULE_PATH_BENEATH, (long)&rule, 0) < 0)
      fail("restrict: Landlock refused the rule of a folder\n");
    call(SYS_close, folder, 0, 0, 0);
  }
  if (call(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0) < 0) fail("restrict: privileges could not be given up\n");
  if (call(SYS_landlock_restrict_self, set, 0, 0, 0) < 0) fail("restrict: Landlock could not be entered\n");
  call(SYS_close, set, 0, 0, 0);
}

/* `stack` holds the number of arguments, the arguments, 0, and the environment. */
void begin(long *stack) {
  long count = stack[0];
  char **arguments = (char **)(stack + 1);
  char **environment = arguments + count + 1;
  long separator = 1;
  while (separator < count && !is_separator(arguments[separator])) separator++;
  if (separator + 1 >= count) fail("usage: restrict FOLDER... -- COMMAND ARGUMENT...\n");
  long version = call(SYS_landlock_create_ruleset, 0, 0, CREATE_RULESET_VERSION, 0);
  if (version > 0) restrict_self(arguments + 1, separator - 1, version);
  else if (version != -ENOSYS && version != -EOPNOTSUPP) fail("restrict: Landlock gave no version\n");
  char **command = arguments + separator + 1;
  call(SYS_execve, (long)command[0], (long)command, (long)environment, 0);
  call(SYS_exit, 127, 0, 0, 0);
}
