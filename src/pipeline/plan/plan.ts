import { sha256 } from '../../core/bytes/digest.ts'
import type { CacheSettings } from '../../core/caching/cache-settings.ts'
import type { PresetSettings } from '../../core/clients/rules/rule.ts'
import type { ClientRules } from '../../core/clients/rules/table.ts'
import { isInPrivateFolder } from '../../core/clients/signed-delivery.ts'
import { PRIVATE_MARK, variantOf } from '../../core/files/variant.ts'
import { isShorter, type Point, type Sides, type Size } from '../../core/geometry/box.ts'
import { type Format, knownFormat, transformedAs } from '../../core/media/formats.ts'
import { MEDIA_GROUPS, type MediaGroup } from '../../core/media/groups.ts'
import type { Preference, Preferences } from '../../core/media/preferences.ts'
import { type ScriptName, scriptsIn } from '../../core/media/scripts.ts'
import { canonicalValue } from '../../core/plugin-api/parameter.ts'
import type { PlanRequest } from '../../core/plugin-api/plan-request.ts'
import type { LoadedDetector, LoadedPlugin } from '../load/load.ts'
import { areInOrder } from '../load/plugin-order.ts'
import type { Preferred } from './auto-numbers.ts'
import { readPresets } from './presets.ts'
import { cacheSettingsOf, knownTo, type Presets, type PresetsOfGroup, readQuery } from './query.ts'
import { namedFiles } from './referenced-files.ts'
import { naming, startedBy, type Values, withDefaults } from './step-values.ts'

/** The steps of one transformation, and the name of its output. */
export interface Plan {
  /** In the order in which they run. Empty when the original itself was requested. */
  steps: readonly Step[]
  /** The canonical text that names the derivative, with the entry's name for a bundle; empty without steps. */
  variant: string
  /** The preferences with which the plan might have been another one. */
  variesBy: readonly Preference[]
  /** Differences between request and output, as notes for the client. */
  notes: readonly string[]
  /** The cache settings of the preset. */
  caching?: CacheSettings
  /** Set when another focal point might have given another plan. */
  dependsOnFocalPoint?: true
  /** Set when the size of an original with a side shorter than these might have given another plan. */
  dependsOnSizeBelow?: Sides
  /** The detector that the steps may call. */
  detector?: LoadedDetector
}

export interface Step extends LoadedPlugin {
  /** The values for the plugin: requested ones and defaults. */
  params: Values
}

export interface PlanInput {
  /** Names and values of the query, decoded, in any order. */
  query: Iterable<readonly [name: string, value: string]>
  /** The format of the source. */
  format: Format
  preferences: Preferences
  /** Formats with which an earlier plan for this request failed. */
  tooSmall?: readonly string[]
  /** The focal point in the file's record. */
  focalPoint?: Point | undefined
  /** The upright size of the file, if it is known. */
  size?: Size | undefined
  /** The rules of the client that owns the file. */
  rules?: ClientRules | undefined
}

export type Planner = (input: PlanInput) => Plan

/** Creates a planner for the loaded transforms. @param ignored query names to ignore */
export function createPlanner(
  transforms: readonly LoadedPlugin[],
  ignored: readonly string[],
  {
    presets: presetsByGroup = new Map(),
    detector,
    autoAccept,
    lacksFont = () => undefined,
  }: {
    presets?: Presets
    detector?: LoadedDetector
    /** An `Accept` header that replaces that of every request. Responses then do not vary by it. */
    autoAccept?: string
    /** The scripts that no font of the machine has; undefined until that is known. */
    lacksFont?: () => readonly ScriptName[] | undefined
  } = {},
): Planner {
  const forGroup = (group: MediaGroup, all = transforms) => ({
    plugins: all.filter(({ media }) => media.includes(group)),
    known: knownTo(all, group),
  })
  // Documents that are shown as images have the parameters of both.
  const isOfDocuments = ({ media }: LoadedPlugin) => media.includes('application')
  const asImages = transforms.map((each) =>
    isOfDocuments(each) ? { ...each, media: ['image'] as const } : each,
  )
  const forDocuments = forGroup('image', asImages)
  /**
   * Returns the plugins of a plan. A plugin whose output is in another group comes first, whatever the order, and the
   * plugins for that group follow.
   */
  const chainFor = (plugins: readonly LoadedPlugin[], requested: ReadonlyMap<string, unknown>) => {
    const maker = plugins.find(
      ({ plugin }) => plugin.makes !== undefined && startedBy(plugin.params, requested),
    )
    if (maker?.plugin.makes === undefined) return plugins
    const { group } = knownFormat(maker.plugin.makes)
    return [
      maker,
      ...transforms.filter(({ plugin, media }) => plugin !== maker.plugin && media.includes(group)),
    ]
  }
  const groups = new Map(MEDIA_GROUPS.map((group) => [group, forGroup(group)]))
  /**
   * The merged presets of a client, computed once: the common ones, replaced by valid presets of the client with the
   * same name.
   */
  const mergedPresets = new WeakMap<PresetSettings, Map<MediaGroup, PresetsOfGroup>>()
  const presetsFor = (group: MediaGroup, { presets: own }: ClientRules): PresetsOfGroup => {
    const common = presetsByGroup.get(group) ?? new Map()
    if (!own) return common
    const known = mergedPresets.get(own) ?? new Map<MediaGroup, PresetsOfGroup>()
    mergedPresets.set(own, known)
    const merged = known.get(group) ?? withOwn(common, readPresets(own, transforms).presets.get(group))
    known.set(group, merged)
    return merged
  }
  return ({ query: pairs, format, preferences, tooSmall = [], focalPoint, size, rules = {} }) => {
    const query = [...pairs]
    // An installation whose plugins transform texts has those instead of the picture of a text.
    const isTheirs = format.group === 'text' && groups.get('text')?.plugins.length !== 0
    const group = isTheirs ? format.group : transformedAs(format)
    const { plugins, known } = group === format.group ? (groups.get(group) ?? forGroup(group)) : forDocuments
    const presets = presetsFor(group, rules)
    const variesBy: Preference[] = []
    const preferred: Preferred = (name) => {
      if (!variesBy.includes(name)) variesBy.push(name)
      return preferences[name]
    }
    const caching = cacheSettingsOf(query, presets)
    const requested = readQuery(query, { known, format, presets, ignored, rules, preferred })
    let detects = false
    let dependsOnFocalPoint = false
    let dependsOnSizeBelow: Sides | undefined
    const notes: string[] = []
    const steps: Step[] = []
    const request: Omit<PlanRequest, 'options' | 'format'> = {
      accept: () => autoAccept ?? preferred('accept') ?? '',
      tooSmall,
      named: new Set(requested.keys()),
      isTransparent: () => steps.some(({ plugin }) => plugin.transparent),
      detects() {
        detects = detector !== undefined
        return detects
      },
      focalPoint() {
        dependsOnFocalPoint = true
        return focalPoint
      },
      sizeBelow(sides) {
        if (steps.length === 0 || !steps.every(({ plugin }) => plugin.keepsSize)) return undefined
        if (size) return isShorter(size, sides) ? size : undefined
        dependsOnSizeBelow = sides
        return undefined
      },
      scriptsWithoutFont: (text) => scriptsIn(text).filter((script) => lacksFont()?.includes(script)),
      note: (text) => notes.push(text),
    }
    const named = new Map<string, string | undefined>()
    const values = Object.fromEntries(requested)
    const chain = requested.size === 0 ? [] : chainFor(plugins, requested)
    for (const loaded of chain) {
      const { plugin, options } = loaded
      if (!plugin.always && !startedBy(plugin.params, requested)) continue
      const given = withDefaults(plugin.params, values)
      const resolved = plugin.resolve
        ? plugin.resolve(given as never, { ...request, options, format: formatBefore(steps, format) })
        : given
      if (resolved === 'original') return { steps: [], variant: '', variesBy, notes, ...caching }
      if (resolved === undefined) continue
      const params = withDefaults(plugin.params, resolved)
      for (const [name, value] of naming(loaded, params))
        named.set(name, value === undefined ? undefined : canonicalValue(value))
      steps.push({ ...loaded, params })
    }
    const asking = detects ? detector : undefined
    const entry = steps.find(({ plugin }) => plugin.entry !== undefined)?.plugin.entry
    // Its own URL, without the parameters, must be as private as the file that it shows.
    const mark = showsPrivateFile(steps, rules) ? PRIVATE_MARK : ''
    const text = steps.length === 0 ? '' : `${variantOf(named, fingerprint(steps, asking))}${mark}`
    const variant = entry === undefined ? text : `${text}/${entry}`
    return {
      steps,
      variant,
      variesBy,
      notes,
      ...caching,
      ...(dependsOnFocalPoint ? { dependsOnFocalPoint } : {}),
      ...(dependsOnSizeBelow ? { dependsOnSizeBelow } : {}),
      ...(asking ? { detector: asking } : {}),
    }
  }
}

function showsPrivateFile(steps: readonly Step[], rules: ClientRules): boolean {
  // Every delivery calls this, and few clients have private folders.
  return (
    rules.privateFolders !== undefined && namedFiles(steps).some(({ key }) => isInPrivateFolder(rules, key))
  )
}

function withOwn(common: PresetsOfGroup, own: PresetsOfGroup = new Map()): PresetsOfGroup {
  return new Map([...common, ...own])
}

/** The format that the plugin receives: that of the source, or the output of the first step. */
function formatBefore([first]: readonly Step[], format: Format): Format {
  const made = first?.plugin.makes
  return made === undefined ? format : knownFormat(made)
}

/** Undefined for shipped plugins in their shipped order: their derivatives have the plain name. */
function fingerprint(steps: readonly Step[], detector: LoadedDetector | undefined): string | undefined {
  const shipped = steps.every((step) => step.fingerprint === undefined) && areInOrder(steps)
  if (shipped && detector?.fingerprint === undefined) return undefined
  const parts = [...steps, ...(detector ? [detector] : [])]
  return sha256(JSON.stringify(parts.map(({ fingerprint, plugin }) => fingerprint ?? plugin.name)))
}
