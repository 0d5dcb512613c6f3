import fs from 'node:fs'
import promises, { open } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { relative } from 'node:path'

/** Node's file system functions by name: of `node:fs`, as its streams call them, and of `node:fs/promises`. */
const MODULES = { fs, promises }

type Call = (...args: never[]) => unknown
export type Wrap = (real: Call) => Call

/**
 * Puts `wrap(real)` in the place of one of Node's functions, for all who have imported it, while `work` runs: disks
 * that fail, and orders of calls, cannot be had otherwise.
 */
export async function instead<T>(
  module: keyof typeof MODULES,
  name: string,
  wrap: Wrap,
  work: () => Promise<T>,
): Promise<T> {
  const functions = MODULES[module] as unknown as Record<string, Call>
  const real = functions[name] as Call
  functions[name] = wrap(real)
  syncBuiltinESMExports()
  try {
    return await work()
  } finally {
    functions[name] = real
    syncBuiltinESMExports()
  }
}

/** An error as the system reports it. */
export function systemError(code: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${code}: as if the disk had said so`), { code })
}

/** The flushes and renames that `work` does, with paths from `folder`. */
export async function fileCalls(folder: string, work: () => Promise<unknown>): Promise<string[]> {
  const calls: string[] = []
  const shown = (path: unknown) => relative(folder, String(path)) || '.'
  const paths = new Map<number, string>()
  const probe = await open(folder, 'r')
  const handles = Object.getPrototypeOf(probe) as { sync(this: { fd: number }): Promise<void> }
  await probe.close()
  const { sync } = handles
  handles.sync = function (this: { fd: number }) {
    calls.push(`flush ${paths.get(this.fd)}`)
    return sync.call(this)
  }
  // The streams of Node open and flush by callback, the rest by promise.
  const openByCallback: Wrap =
    (real) =>
    (...args: never[]) => {
      const done = args.at(-1) as unknown as (error: unknown, fd: number) => void
      const noted = (error: unknown, fd: number) => {
        paths.set(fd, shown(args[0]))
        done(error, fd)
      }
      return real(...args.slice(0, -1), noted as never)
    }
  const flushByCallback: Wrap =
    (real) =>
    (...args: never[]) => {
      calls.push(`flush ${paths.get(args[0] as unknown as number)}`)
      return real(...args)
    }
  const openByPromise: Wrap =
    (real) =>
    async (...args: never[]) => {
      const handle = (await real(...args)) as { fd: number }
      paths.set(handle.fd, shown(args[0]))
      return handle
    }
  const openNow: Wrap =
    (real) =>
    (...args: never[]) => {
      const fd = real(...args) as number
      paths.set(fd, shown(args[0]))
      return fd
    }
  const noted: Wrap =
    (real) =>
    (...args: never[]) => {
      calls.push(`rename ${shown(args[0])} ${shown(args[1])}`)
      return real(...args)
    }
  try {
    await instead('fs', 'open', openByCallback, () =>
      instead('fs', 'fsync', flushByCallback, () =>
        instead('promises', 'open', openByPromise, () =>
          // Quick disks open and rename in the event loop.
          instead('promises', 'rename', noted, () =>
            instead('fs', 'openSync', openNow, () => instead('fs', 'renameSync', noted, work)),
          ),
        ),
      ),
    )
  } finally {
    handles.sync = sync
  }
  return calls
}
