import { dirname, extname, join } from 'node:path'

/**
 * The folder that has `src` and `plugins`: the project's folder for a service that runs from its sources, else `dist`. A build puts
 * most modules into chunks in `dist/src/chunks`, so a module cannot find files by its own place.
 */
export const OWN_FOLDER = parentOfSrc(import.meta.dirname)

/** The extension of the scripts in {@link OWN_FOLDER}: `.ts` or `.js`. */
export const OWN_EXTENSION = extname(import.meta.filename)

/** The plugins of Sluice itself. */
export const OWN_PLUGINS = {
  path: join(OWN_FOLDER, 'plugins'),
  extension: OWN_EXTENSION,
  shipped: true,
} as const

function parentOfSrc(folder: string): string {
  return folder.endsWith('/src') ? dirname(folder) : parentOfSrc(dirname(folder))
}
