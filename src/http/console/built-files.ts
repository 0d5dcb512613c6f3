import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import type { Encoding } from '../../core/media/encodings.ts'
import { OWN_FOLDER } from '../../core/own-files.ts'

// `npm run build` bundles the console into dist/dashboard. The second folder is that of a service that runs from its sources.
const FOLDERS = [['dashboard'], ['dist', 'dashboard']]
const SUFFIXES = { br: '.br', gzip: '.gz' } as const
const ENCODINGS = ['br', 'gzip'] as const

/** A script, style sheet or picture of the console. */
interface Asset {
  /** Its extension, for the media type. */
  type: string
  encodings: readonly Encoding[]
  bytes(encoding: Encoding | undefined): Buffer
}

/** The files of the console. */
export interface BuiltConsole {
  asset(name: string): Asset | undefined
  /** @param of.organisation the text of the button for the sign-in with the organisation; undefined: there is none */
  page(of: { base: string; nonce: string; organisation: string | undefined }): string
}

// Read once per process: all services of a process deliver the same files.
let files: BuiltConsole | undefined

/** Returns the files of the console, once there are any: a first `npm start` builds them while the server serves already. */
export function createBuiltConsole(): () => BuiltConsole | undefined {
  const built = () => {
    files ??= readBuilt()
    return files
  }
  built()
  return built
}

/**
 * The files that the build has written, about 2 MiB. Undefined when there are none. All are read at once: a later build, which
 * replaces them, must not break the pages of a running service.
 */
function readBuilt(): BuiltConsole | undefined {
  const folder = FOLDERS.map((names) => join(OWN_FOLDER, ...names)).find((path) =>
    existsSync(join(path, 'assets')),
  )
  if (folder === undefined) return undefined
  const names = readdirSync(join(folder, 'assets'))
  const assets = new Map(names.map((name) => [name, readFileSync(join(folder, 'assets', name))]))
  const document = readFileSync(join(folder, 'index.html'), 'utf8')
  return {
    asset(name) {
      const plain = assets.get(name)
      if (!plain) return undefined
      const encodings = ENCODINGS.filter((encoding) => assets.has(name + SUFFIXES[encoding]))
      return {
        type: extname(name),
        encodings,
        bytes: (encoding) => (encoding && assets.get(name + SUFFIXES[encoding])) ?? plain,
      }
    },
    page: ({ base, nonce, organisation = '' }) =>
      document
        .replace('<base href="./">', `<base href="${base}">`)
        .replace('name="csp-nonce" content=""', `name="csp-nonce" content="${nonce}"`)
        .replace(
          'name="sluice-organisation" content=""',
          () => `name="sluice-organisation" content="${escaped(organisation)}"`,
        ),
  }
}

/** A text in an attribute of HTML. */
function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;')
}
