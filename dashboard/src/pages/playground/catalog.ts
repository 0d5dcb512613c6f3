import type { ListedFile, ParameterLists } from '../../../../client/index.ts'
import { isDrawn, isOffice } from '../../api/pictured.ts'

/** The types of files that parameters are for. */
export type Group = keyof ParameterLists

interface Described {
  /** Name of the plugin: `image-resize`. */
  plugin: string
  name: string
  aliases: readonly string[]
  help: string
  /** The accepted values, as text. */
  expected: string
}

/** A parameter as the service describes it. The bounds are inclusive. */
export type Parameter = Described &
  (
    | {
        type: 'integer' | 'number'
        min: number
        max: number
        unit?: string
        default?: number
        /** The value of the name alone. */
        bare?: number
      }
    | { type: 'enum'; values: readonly string[]; default?: string }
    | { type: 'flag'; words?: readonly string[] }
    | { type: 'text'; maxLength: number; default?: string }
    | { type: 'key'; group: Group }
    | {
        type: 'list'
        of: 'integer' | 'number'
        names: readonly string[]
        separator: string
        min: readonly number[]
        max: readonly number[]
        unit?: string
        /** How many numbers are required. Default: all. */
        atLeast?: number
      }
    | { type: 'color'; default?: string }
  )

/** The parameters of one plugin. */
export interface PluginParameters {
  plugin: string
  /** The name for people: `Resize`. */
  title: string
  parameters: readonly Parameter[]
}

/** The parameters of all plugins for one type of files, in the order in which the plugins run. */
export function parametersFor(lists: ParameterLists, group: Group): readonly Parameter[] {
  return (lists[group] ?? []) as unknown as readonly Parameter[]
}

/** Whether a plugin transforms this file. */
export function isTransformable(
  lists: ParameterLists,
  file: Pick<ListedFile, 'mimeType' | 'format'>,
): boolean {
  const own = parametersFor(lists, file.mimeType)
  if (isShownAsImage(file)) return own.length > 0 || parametersFor(lists, 'image').length > 0
  // Those of Sluice itself are for documents that are shown as images.
  return own.some(({ plugin }) => !OF_DOCUMENTS.has(plugin))
}

const OF_DOCUMENTS = new Set(['application-pdf', 'application-thumbnail'])

/** Whether a document or a text has the parameters of images too. */
export function isShownAsImage(file: Pick<ListedFile, 'mimeType' | 'format'>): boolean {
  return isDrawn(file) || isOffice(file)
}

// What most people look for comes first. The others follow in the order of the chain.
const FIRST = /-(?:resize|format)$/

/** Parameters by plugin: of size and format first. */
export function byPlugin(parameters: readonly Parameter[]): PluginParameters[] {
  const groups = new Map<string, Parameter[]>()
  for (const parameter of parameters) {
    const own = groups.get(parameter.plugin)
    if (own) own.push(parameter)
    else groups.set(parameter.plugin, [parameter])
  }
  const all = [...groups].map(([plugin, own]) => ({ plugin, title: titleOf(plugin), parameters: own }))
  const isFirst = ({ plugin }: PluginParameters) => FIRST.test(plugin)
  return [...all.filter(isFirst), ...all.filter((group) => !isFirst(group))]
}

/** Whether a parameter fits a search, by its name, its plugin or its purpose. */
export function isFound({ name, aliases, plugin, help }: Parameter, search: string): boolean {
  const text = [name, ...aliases, plugin, help].join(' ').toLowerCase()
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word))
}

/** `image-key-frames` → `Key frames`. */
function titleOf(plugin: string): string {
  const words = plugin.replace(/^(?:image|video|audio|text|application)-(?=.)/, '').replace(/[-_]+/g, ' ')
  return words === 'pdf' ? 'PDF' : words.charAt(0).toUpperCase() + words.slice(1)
}
