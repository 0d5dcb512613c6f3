import { rename } from 'node:fs/promises'
import { basename, extname, join } from 'node:path'
import { outputTooLarge } from '../../core/limit-problems.ts'
import type { Log } from '../../core/log.ts'
import { formatOfMediaType, knownFormat } from '../../core/media/formats.ts'
import type { Engine } from '../../core/plugin-api/plugin.ts'
import { Problem } from '../../core/problem.ts'
import { encryptedFile, notDecodable } from '../../core/transform-problems.ts'
import { checkBytes } from '../image/pixel-limits.ts'
import { ProgramError, type Running, runningOf } from '../programs/run.ts'
import { assetOfFile } from '../temp/file-asset.ts'
import { createScratch } from '../temp/scratch.ts'
import { isConfinable, NO_SANDBOX, noSandbox } from './confined.ts'
import { isEncrypted } from './encryption.ts'
import { convertToPdf, findSoffice, INSTALL, notInstalled } from './soffice.ts'

declare module '../../core/plugin-api/plugin.ts' {
  interface Engines {
    office: { draft: OfficeDraft; source: OfficeSource; opening: Record<string, never> }
  }
}

/** A copy of a document, in a folder of its own. There is nothing to edit: the output is its PDF. */
export interface OfficeDraft {
  folder: string
  /** The name of the file in the folder. */
  file: string
  /** Whether it is encrypted, although it may open with a password that all programs know. */
  isEncrypted: boolean
}

export interface OfficeSource {
  /** By Sluice's name: `docx`. */
  format: string
}

/** The engine of Office documents. It runs LibreOffice as a child process. */
export interface OfficeEngine extends Engine<'office'> {
  /** Logs once that LibreOffice or its sandbox is missing. */
  start(log: Log): Promise<void>
  /** @throws Problem 501 when LibreOffice, or a required sandbox, is missing */
  ensureInstalled(): Promise<void>
}

/** `optional`: documents are also converted where LibreOffice cannot be confined. */
export type Sandbox = 'required' | 'optional'

// A small document takes 1 s and 200 MB.
const DOCUMENT_BYTES = 250_000_000
// Excel encrypts a workbook whose structure is protected, with a password that LibreOffice tries, too.
const WITH_KNOWN_PASSWORD = new Set(['xls', 'xlsx'])

/**
 * Creates the engine. It starts no process yet.
 *
 * @param options.folder of temporary files, created on demand
 * @param options.env the complete environment of LibreOffice
 * @param options.timeoutMs limit of one conversion; a media job may have a lower one
 */
export function createOffice({
  folder,
  env,
  timeoutMs,
  sandbox,
}: {
  folder: string
  env: Running['env']
  timeoutMs: number
  sandbox: Sandbox
}): OfficeEngine {
  const scratch = createScratch(folder)
  let isConfirmed = false

  /** A kernel does not lose its sandbox, so it is looked for until it is found. */
  async function hasSandbox(): Promise<boolean> {
    isConfirmed ||= await isConfinable(env)
    return isConfirmed
  }

  async function installed(): Promise<string> {
    const program = await findSoffice(env)
    if (program === undefined) throw notInstalled()
    if (sandbox === 'required' && !(await hasSandbox())) throw noSandbox()
    return program
  }

  return {
    name: 'office',
    media: ['application'],

    async start(log) {
      if ((await findSoffice(env)) === undefined)
        log.info(
          {},
          `Office documents are stored and delivered, but not transformed. Install LibreOffice: ${INSTALL}`,
        )
      else if (!(await hasSandbox())) log.warn({}, sandbox === 'required' ? noSandbox().message : NO_SANDBOX)
    },

    async ensureInstalled() {
      await installed()
    },

    async forecast(source, _steps, { limits }) {
      await installed()
      checkBytes(source, limits)
      return { bytes: DOCUMENT_BYTES, mayHang: false, ownProcess: true, source }
    },

    async open(asset, _opening, { signal, limits, afterwards }) {
      checkBytes(asset, limits)
      const { extension, name: format } = formatOfMediaType(asset.mediaType)
      // Always a copy: LibreOffice writes a lock next to a document.
      const { file: _, ...bytes } = asset
      const { path, folder: own, remove } = await scratch.take(bytes, signal)
      afterwards(remove)
      // It detects the type by the extension, too.
      const file = `document.${extension}`
      const document = join(own, file)
      await rename(path, document)
      const hasPassword = await isEncrypted(document)
      if (hasPassword && !WITH_KNOWN_PASSWORD.has(format)) throw encryptedFile('document')
      return { draft: { folder: own, file, isEncrypted: hasPassword }, source: { format } }
    },

    async render({ folder: own, file, isEncrypted }, { signal, limits, spent }) {
      const program = await installed()
      const within = { ...limits, timeoutMs: Math.min(timeoutMs, limits.timeoutMs) }
      const running = runningOf(within, { signal, env, group: 'document', spent })
      const failed = (cause: unknown) => (isEncrypted ? encryptedFile('document', cause) : unreadable(cause))
      await convertToPdf(program, { folder: own, file, running }).catch((error) => {
        signal.throwIfAborted()
        if (error instanceof Problem || isKilled(error)) throw error
        throw failed(error)
      })
      const pdf = join(own, `${basename(file, extname(file))}.pdf`)
      const made = await assetOfFile(pdf, knownFormat('pdf')).catch((error) => {
        throw failed(error)
      })
      if (made.size > limits.outputMaxBytes) throw outputTooLarge(limits.outputMaxBytes)
      return made
    },

    settle: () => Promise.reject(new Error('a document has no passes')),

    frames: () => Promise.reject(new Error('a document has no frames')),

    async verify() {
      // Errors in a document become problems when it is rendered.
    },
  }
}

/** Whether LibreOffice was killed, most likely for lack of memory: a retry may succeed. With another signal, the document made it crash. */
function isKilled(error: unknown): boolean {
  return error instanceof ProgramError && (error.signal === 'SIGKILL' || error.signal === 'SIGTERM')
}

function unreadable(cause: unknown): Problem {
  return notDecodable('expected an Office document that LibreOffice can read but this one is broken', cause)
}
