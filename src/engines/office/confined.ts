import { execFile } from 'node:child_process'
import { Problem } from '../../core/problem.ts'
import { isExecutable, pathsOf } from '../programs/path.ts'
import type { Running } from '../programs/run.ts'

// The number of `prctl`, which differs between processors. Those of Landlock are the same for all.
const PRCTL: Readonly<Record<string, number>> = { x64: 157, arm64: 167 }

// Programs, libraries, fonts and their settings: no files of the service, and no home folders.
const READABLE = [
  ...['/bin', '/lib', '/lib32', '/lib64', '/nix/store', '/gnu/store', '/proc', '/sys'],
  // Not all of /usr: the service or its data may be in /usr/src or /usr/local.
  ...['bin', 'lib', 'lib32', 'lib64', 'libexec', 'share', 'local/lib', 'local/share'].map(
    (name) => `/usr/${name}`,
  ),
  ...['alternatives', 'fonts', 'libreoffice', 'ld.so.cache', 'ld.so.conf', 'ld.so.conf.d'].map(
    (name) => `/etc/${name}`,
  ),
  ...['localtime', 'locale.alias', 'nsswitch.conf', 'passwd', 'papersize', 'ssl'].map(
    (name) => `/etc/${name}`,
  ),
  ...[
    '/var/cache/fontconfig',
    '/var/lib/libreoffice',
    '/var/spool/libreoffice',
    '/dev/urandom',
    '/dev/random',
  ],
]

/**
 * Node has no system calls of its own, and Perl is a part of Debian. Without Landlock (Linux 5.13), the program runs unconfined.
 *
 * @see https://docs.kernel.org/userspace-api/landlock.html
 */
const SCRIPT = String.raw`
use strict;
my ($prctl, $count, @rest) = @ARGV;
my @rules = splice @rest, 0, 3 * $count;
my ($create, $add, $restrict) = (444, 445, 446);
my ($null, $version) = (0, 1);
my $abi = syscall($create, $null, 0, $version);
if ($abi > 0) {
  my $handled = $abi > 2 ? 0x7fff : $abi > 1 ? 0x3fff : 0x1fff;
  my $attributes = $abi > 3 ? pack('QQ', $handled, 3) : pack('Q', $handled);
  my $rules = syscall($create, $attributes, length $attributes, 0);
  die "landlock: $!\n" if $rules < 0;
  while (my ($path, $folder, $file) = splice @rules, 0, 3) {
    # O_PATH and O_CLOEXEC.
    sysopen(my $at, $path, 0x280000) or next;
    my $rule = pack('Ql', (-d $path ? $folder : $file) & $handled, fileno $at);
    syscall($add, $rules, 1, $rule, 0) == 0 or die "landlock: $path: $!\n";
  }
  # PR_SET_NO_NEW_PRIVS
  syscall($prctl, 38, 1, 0, 0, 0) == 0 or die "prctl: $!\n";
  syscall($restrict, $rules, 0) == 0 or die "landlock: $!\n";
}
exec { $rest[0] } @rest or die "$rest[0]: $!\n";
`

// Access rights of Landlock: to execute, read and list; and to remove and create sockets.
const READ = 0x01 | 0x04 | 0x08
const READ_FILE = 0x01 | 0x04
const ALL = 0x7fff
const SOCKETS = 0x20 | 0x200
const DEVICE = 0x02 | 0x04 | 0x4000

/**
 * Returns a command that runs a program with these rights: it reads and writes `folder`, and reads the files of the system. From Linux
 * 6.7 on, it opens no TCP connection. Undefined without Perl, and on other systems.
 *
 * @param options.folder only for this run
 * @param options.reads further files and folders that it reads
 */
export async function confined(
  [program, ...args]: readonly [string, ...string[]],
  { folder, reads, env }: { folder: string; reads: readonly string[] } & Pick<Running, 'env'>,
): Promise<[string, string[]] | undefined> {
  const tools = await toolsIn(env)
  if (!tools) return undefined
  const { perl, prctl } = tools
  const rules = [
    ...[...READABLE, ...reads].map((path) => [path, READ, READ_FILE]),
    [folder, ALL, ALL],
    ['/tmp', SOCKETS, 0],
    ['/dev/null', 0, DEVICE],
  ]
  return [
    perl,
    ['-e', SCRIPT, String(prctl), String(rules.length), ...rules.flat().map(String), program, ...args],
  ]
}

/** The risk of a conversion that is not confined. */
export const NO_SANDBOX =
  'LibreOffice has no sandbox on this server: a document that names an image file of the server shows it.'

/** Problem 501: the server cannot confine LibreOffice. */
export function noSandbox(): Problem {
  return new Problem({
    status: 501,
    code: 'not_installed',
    detail: `${NO_SANDBOX} So Office documents are not converted. Use Linux 5.13 or later with Landlock, and install Perl; or set DOCUMENT_SANDBOX=optional when you trust all documents.`,
  })
}

/** Whether {@link confined} has an effect on this machine. */
export async function isConfinable(env: Running['env']): Promise<boolean> {
  const tools = await toolsIn(env)
  if (!tools) return false
  const version = 'my ($null, $version) = (0, 1); exit(syscall(444, $null, 0, $version) > 0 ? 0 : 1)'
  return new Promise((resolve) => {
    execFile(tools.perl, ['-e', version], { env }, (error) => resolve(error === null))
  })
}

/** Perl, and the number of `prctl`. */
async function toolsIn(env: Running['env']): Promise<{ perl: string; prctl: number } | undefined> {
  const prctl = process.platform === 'linux' ? PRCTL[process.arch] : undefined
  if (prctl === undefined) return undefined
  for (const perl of pathsOf('perl', env)) if (await isExecutable(perl)) return { perl, prctl }
  return undefined
}
