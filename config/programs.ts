import type { Environment } from './variable.ts'

// The paths of programs and their libraries, which a buildpack installs elsewhere. Never FFREPORT, which makes ffmpeg
// write files.
const INHERITED = ['PATH', 'LD_LIBRARY_PATH'] as const

// Settings of Node, libvips, glibc and fontconfig. No secrets.
const NODE_VARIABLES =
  /^(NODE_OPTIONS|NODE_ENV|NODE_V8_COVERAGE|UV_THREADPOOL_SIZE|HOME|TMPDIR|TZ|LANG|LC_ALL|LD_PRELOAD)$/
const LIBRARY_VARIABLES = /^(MALLOC|VIPS|FONTCONFIG)_/

/** The environment of programs that the service starts. It must not contain the service's secrets. */
export function programEnvironment(environment: Environment = process.env): Readonly<Record<string, string>> {
  return inherited(environment, isForPrograms)
}

/** The environment of the processes that transform images: Node, with libvips and plugins. */
export function transformerEnvironment(
  environment: Environment = process.env,
): Readonly<Record<string, string>> {
  return inherited(
    environment,
    (name) => isForPrograms(name) || NODE_VARIABLES.test(name) || LIBRARY_VARIABLES.test(name),
  )
}

function isForPrograms(name: string): boolean {
  return (INHERITED as readonly string[]).includes(name)
}

function inherited(environment: Environment, isInherited: (name: string) => boolean) {
  return Object.fromEntries(
    Object.entries(environment).flatMap(([name, value]) =>
      value !== undefined && isInherited(name) ? [[name, value]] : [],
    ),
  )
}
