import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, parse } from 'node:path'
import type { Command } from 'commander'
import { MEDIA_GROUPS } from '../../core/media/groups.ts'
import { OWN_FOLDER, OWN_PLUGINS } from '../../core/own-files.ts'
import type { DescribedParameter, DescribedParameters } from '../../core/plugin-api/describe-parameters.ts'
import { parameterTypes } from '../../core/plugin-api/parameter-types.ts'

const DEFAULT_URL = 'http://localhost:3000'
const TIMEOUT_MS = 30_000

/** Adds `types`, which needs only the address of a server. Failures are printed, and set the exit code 1. */
export function addTypesCommand(
  sluice: Command,
  write: (text: string) => void = (text) => void process.stdout.write(text),
): void {
  sluice
    .command('types')
    .description(
      "Print TypeScript types of the parameters of an installation's own plugins, for sluice/client.",
    )
    .argument('[url]', 'address of a running server', DEFAULT_URL)
    .action(async (url: string) => {
      try {
        write(augmentation(await parametersOf(url)))
      } catch (error) {
        process.stderr.write(`sluice: ${(error as Error).message}\n`)
        process.exitCode = 1
      }
    })
}

/** An augmentation of `sluice/client` with the parameters of all plugins that Sluice does not come with. */
export function augmentation(parameters: DescribedParameters): string {
  const shipped = shippedPlugins()
  const builtIn = builtInParameters()
  // In a clone, the folder of Sluice's plugins may have plugins of the installation too.
  const isOwn = ({ plugin, name }: DescribedParameter) => !shipped.has(plugin) || !builtIn.has(name)
  const members = parameterTypes(parameters, isOwn)
  if (members === '') return '// This server has no plugins of its own.\nexport {}\n'
  return `// Written by \`sluice types\`. Include this file in your project.
import 'sluice/client'

declare module 'sluice/client' {
  interface TransformParameters {
${members.replace(/^(?=.)/gm, '  ')}
  }
}
`
}

async function parametersOf(given: string): Promise<DescribedParameters> {
  const url = `${given.replace(/\/+$/, '')}/v1/parameters`
  const request = URL.canParse(url) ? fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) }) : undefined
  const response = await request?.catch(() => undefined)
  const body: unknown = response?.ok ? await response.json().catch(() => undefined) : undefined
  if (isDescribed(body)) return body
  const received = response ? `the status ${response.status}` : 'no response'
  throw new Error(`${url} returned ${received} instead of parameters. Pass the address of a running server`)
}

function isDescribed(body: unknown): body is DescribedParameters {
  if (typeof body !== 'object' || body === null) return false
  return MEDIA_GROUPS.every((group) => Array.isArray((body as Record<string, unknown>)[group]))
}

/** The parameters that the types of the client library have already. */
function builtInParameters(): ReadonlySet<string> {
  const types = join(OWN_FOLDER, 'client', 'generated', 'parameters')
  const text = readFileSync(existsSync(`${types}.ts`) ? `${types}.ts` : `${types}.d.ts`, 'utf8')
  return new Set([...text.matchAll(/^ +([\w$]+)\?:/gm)].map(([, name]) => name as string))
}

/** The names of the plugins in the folder of Sluice: `image-trim` is image/geometry/trim. */
function shippedPlugins(): ReadonlySet<string> {
  const named = (group: string) =>
    readdirSync(join(OWN_PLUGINS.path, group), { recursive: true, encoding: 'utf8' })
      .filter((file) => /\.[jt]s$/.test(file))
      .map((file) => `${group}-${parse(file).name}`)
  return new Set(['image', 'video', 'audio', 'application'].flatMap(named))
}
