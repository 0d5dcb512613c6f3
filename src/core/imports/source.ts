import type { Readable } from 'node:stream'
import type { Annotations } from '../files/annotations.ts'

/** A file to import. */
export interface ImportItem {
  /** The old address, as the map of URLs shows it: a path relative to the imported folder, `s3://bucket/key`, or a URL. */
  from: string
  /** Identifies the file and its version. A changed file of a folder or bucket has another identity. */
  identity: string
  /** May be empty for a URL: then the remote server decides. */
  name: string
  /** Below the folder of the import; empty for none. Not validated yet. */
  folder: string
  annotations: Annotations
  /** Bytes; undefined when unknown. */
  size?: number
  content: { url: string } | { open(signal: AbortSignal): Promise<Readable> }
}

/** An entry of a source that cannot be imported. */
export interface RefusedItem {
  from: string
  refused: string
}

/** Files of another system. */
export interface ImportSource {
  /** @throws Error when the source cannot be read */
  items(signal: AbortSignal): AsyncIterable<ImportItem | RefusedItem>
}

/** Where files are imported from. */
export type ImportOrigin =
  /** A folder, or an export file of another service. An absolute path of the machine that runs the command. */
  { path: string } | { s3: S3Origin }

/** A part of a bucket of S3. Without credentials, the SDK finds them as for the bucket of the service. */
export interface S3Origin {
  bucket: string
  /** All objects whose names begin with it. Empty: the whole bucket. */
  prefix: string
  endpoint?: string | undefined
  region?: string | undefined
  /** The name of a profile in the configuration files of AWS. */
  profile?: string | undefined
  credentials?:
    | { accessKeyId: string; secretAccessKey: string; sessionToken?: string | undefined }
    | undefined
}

/** @throws Error when the path does not exist, or the settings of the bucket are incomplete */
export type OpenImportSource = (origin: ImportOrigin) => Promise<ImportSource>
