import { createArchiveLink, getArchive } from './links.ts'
import { createArchive } from './zip.ts'

/** Archives of several files, and links to them. */
export const ARCHIVES = [createArchive, createArchiveLink, getArchive]
