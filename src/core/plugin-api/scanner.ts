import type { Readable } from 'node:stream'
import type { ObjectKey } from '../files/object-key.ts'
import type { Log } from '../log.ts'

/**
 * A plugin that scans each new file for malware. A file is delivered after its scan has found it clean. At most one is loaded.
 */
export interface ScannerPlugin {
  /** Unique among all plugins. */
  name: string
  /** The version of the plugin API that the plugin needs, as in `TransformPlugin`. */
  api?: number
  /** How many files one process scans at once, from 1 to 256. Default: 4. */
  atOnce?: number
  /** Settings with their defaults; `config/chain.json` may override them. */
  options?: Readonly<Record<string, unknown>>
  /**
   * Checks the options, and whether the scanner responds. Called by `sluice doctor`, and at the start, where an error is logged as a
   * warning. The signal aborts after 10 seconds.
   */
  check?(options: Readonly<Record<string, unknown>>, context: { signal: AbortSignal }): Promise<void>
  /**
   * Scans one file. After an error, the file keeps waiting, and the scan is retried at growing intervals of up to two minutes, also
   * after a restart. A file may be scanned twice.
   */
  scan(file: FileToScan, context: ScanContext): Promise<Verdict>
}

/** A stored file that is not delivered yet. */
export interface FileToScan {
  clientId: string
  key: ObjectKey
  /** Name of the uploaded file, without folders. It may have any other characters. */
  originalName: string
  mediaType: string
  /** Bytes. */
  size: number
  /** SHA-256 in hexadecimal. */
  sha256: string
  /** Opens a new stream of the bytes, which the plugin consumes or destroys. */
  open(): Promise<Readable>
}

/** What a scan receives in addition to the file. */
export interface ScanContext {
  /** The plugin's settings: its defaults, overridden by `config/chain.json`. */
  options: Readonly<Record<string, unknown>>
  /** Aborts after ten minutes, and when the process stops. */
  signal: AbortSignal
  log: Log
}

/** The result of a scan. */
export type Verdict =
  | { state: 'clean' }
  | {
      state: 'infected'
      /** Name of the malware, for the owner of the file. Not empty; at most 100 characters are stored, then "…". */
      signature: string
      /** Whether the file is deleted permanently. Default: it remains, and is never delivered. */
      remove?: boolean
    }

/** Adds types to a scanner plugin. */
export function defineScanner(plugin: ScannerPlugin): ScannerPlugin {
  return plugin
}
