import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { kindOf, PLATFORM_NAMES, type Platform, type Storage } from './platforms.ts'

/** The options of `sluice init`. What is undefined is requested on a terminal, and else has its default. */
export interface Given {
  folder?: string | undefined
  platform?: Platform | undefined
  storage?: Storage | undefined
  domain?: string | undefined
  start?: boolean | undefined
}

/** The input of a terminal, and its output. */
export interface Terminal {
  input: Readable
  write(text: string): void
}

export const DEFAULT_FOLDER = 'sluice'
const STORAGE_TEXTS: Record<Storage, string> = { disk: 'a disk', s3: 'S3, or a compatible store' }

/** A host name without scheme, port and path. The text is returned in lower case. @throws Error for another text */
export function hostName(text: string): string {
  const name = text.toLowerCase()
  if (/^(?=.{1,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]$/.test(name))
    return name
  throw new Error(`expected a host name such as files.example.com but received ${JSON.stringify(text)}`)
}

/**
 * Requests on a terminal what is not given.
 *
 * @throws Error when the input ends
 */
export async function ask(given: Given, { input, write }: Terminal): Promise<Given> {
  const reader = createInterface({ input })
  const lines = reader[Symbol.asyncIterator]()
  /** Repeats a question until its answer can be read. */
  const question = async <T>(text: string, byDefault: string, read: (answer: string) => T): Promise<T> => {
    for (;;) {
      write(`${text}${byDefault === '' ? '' : ` (${byDefault})`}: `)
      const { value, done } = await lines.next()
      if (done) throw new Error('the input was closed. Nothing was written')
      try {
        return read(value.trim() === '' ? byDefault : value.trim())
      } catch (error) {
        write(`${(error as Error).message}\n`)
      }
    }
  }
  const choice = <T extends string>(text: string, names: readonly T[], about: (name: T) => string) => {
    const list = names.map((name, i) => `  ${i + 1}  ${name.padEnd(10)}  ${about(name)}\n`)
    write(`${text}\n${list.join('')}`)
    return question('Number or name', names[0] ?? '', (answer) => {
      const chosen = names[Number(answer) - 1] ?? names.find((name) => name === answer)
      if (chosen === undefined) throw new Error(`expected a number from 1 to ${names.length}`)
      return chosen
    })
  }
  try {
    const folder = given.folder ?? (await question('Folder', DEFAULT_FOLDER, String))
    const platform =
      given.platform ?? (await choice('Where does it run?', PLATFORM_NAMES, (name) => kindOf(name).about))
    const { storages, starts } = kindOf(platform)
    const storage =
      given.storage ??
      (storages.length === 1
        ? storages[0]
        : await choice('Where are the files stored?', storages, (name) => STORAGE_TEXTS[name]))
    const domain =
      given.domain ??
      (await question('Domain, such as files.example.com, or nothing', '', (answer) =>
        answer === '' ? undefined : hostName(answer),
      ))
    const start =
      given.start ??
      (starts.includes(storage) ? await question('Start it now? yes or no', 'yes', isYes) : undefined)
    return { folder, platform, storage, domain, start }
  } finally {
    reader.close()
  }
}

function isYes(answer: string): boolean {
  if (/^y(es)?$/i.test(answer)) return true
  if (/^no?$/i.test(answer)) return false
  throw new Error('expected yes or no')
}
