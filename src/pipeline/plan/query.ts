import { type CacheSettings, cacheSettingsIn, isCacheField } from '../../core/caching/cache-settings.ts'
import type { ClientRules } from '../../core/clients/rules/table.ts'
import { type Format, knownFormat, transformedAs } from '../../core/media/formats.ts'
import type { MediaGroup } from '../../core/media/groups.ts'
import {
  canonicalValue,
  type ParameterSpec,
  type ParameterValue,
  parseParameter,
} from '../../core/plugin-api/parameter.ts'
import { isIgnoredParam, PRESET_WORD } from '../../core/plugin-api/query-names.ts'
import { RESERVED_PARAMETERS } from '../../core/plugin-api/reserved-parameters.ts'
import { badParameter, Problem } from '../../core/problem.ts'
import { nearest } from '../../core/text/did-you-mean.ts'
import { truncate } from '../../core/text/truncate.ts'
import { notTransformable } from '../../core/transform-problems.ts'
import type { LoadedPlugin } from '../load/load.ts'
import { withAllowedWidth } from './allowed-widths.ts'
import { type Preferred, withoutAuto } from './auto-numbers.ts'
import type { Known, Words } from './known-parameters.ts'
import { makerHint, withMakerHint } from './maker-hint.ts'

/** The canonical parameters of each preset, by media group and by the preset's name. */
export type Presets = ReadonlyMap<MediaGroup, PresetsOfGroup>
export type PresetsOfGroup = ReadonlyMap<string, ReadonlyMap<string, ParameterValue>>

/**
 * Reads the requested parameters, by canonical name, within the client's rules. The query's own parameters override
 * those of its preset.
 *
 * @throws Problem 400 for an invalid query, 403 for a parameter that the client's rules forbid
 */
export function readQuery(
  query: Iterable<readonly [name: string, value: string]>,
  {
    known: ofGroup,
    format,
    presets,
    ignored,
    rules,
    preferred,
  }: {
    known: Known
    format: Format
    presets: PresetsOfGroup
    ignored: readonly string[]
    rules: ClientRules
    preferred: Preferred
  },
): ReadonlyMap<string, ParameterValue> {
  const { presetsOnly, allowedWidths } = rules
  const pairs = [...query]
  const files = kindOf(format)
  const known = knownIn([...pairs, ...pairs.flatMap((pair) => pairsOfPreset(pair, presets))], ofGroup)
  const values = new Map<string, ParameterValue | undefined>()
  const seen = new Map<string, string>()
  let preset: ReadonlyMap<string, ParameterValue> = new Map()
  for (const [word, received] of pairs) {
    if (isIgnoredParam(word, ignored)) continue
    const isPreset = word === PRESET_WORD
    if (presetsOnly && !isPreset) throw notAPreset(word)
    if (!known.words.has(word) && known.ofImages?.has(word)) throw notAnImage(word, format)
    const { name, value } = isPreset ? { name: word } : readValue([word, received], known, files)
    const earlier = seen.get(name)
    if (earlier !== undefined) {
      throw badParameter({ param: word, expected: 'one value', received: `${earlier}, ${received}` })
    }
    seen.set(name, received)
    if (isPreset) preset = withoutCacheSettings(presetNamed(received, { presets, files }))
    else values.set(name, value)
  }
  const requested = new Map(preset)
  for (const [name, value] of values) {
    // The query switches this flag off.
    if (value === undefined) requested.delete(name)
    else requested.set(name, value)
  }
  // A preset requests another kind of file, and the query switches that off.
  if (known !== ofGroup && ![...requested.keys()].some((name) => ofGroup.makers.has(name))) {
    const without = [...requested.keys()].find((name) => !ofGroup.words.has(name))
    if (without !== undefined) throw unknownParameter(without, ofGroup, files)
  }
  // The size in a preset is the operator's choice, so it is not limited.
  const ownSize = values.has('w') || values.has('dpr')
  const settled = withoutAuto(requested, known, preferred)
  if (!allowedWidths || !ownSize) return settled
  return withAllowedWidth(settled, { widths: allowedWidths, height: known.words.get('h')?.spec })
}

/** The cache settings of the preset in a query. Empty if it has none. */
export function cacheSettingsOf(
  query: ReadonlyArray<readonly [name: string, value: string]>,
  presets: PresetsOfGroup,
): { caching?: CacheSettings } {
  const [, name] = query.find(([word]) => word === PRESET_WORD) ?? []
  const caching = name === undefined ? undefined : cacheSettingsIn(presets.get(name) ?? [])
  return caching ? { caching } : {}
}

function withoutCacheSettings(
  preset: ReadonlyMap<string, ParameterValue>,
): ReadonlyMap<string, ParameterValue> {
  return new Map([...preset].filter(([name]) => !isCacheField(name)))
}

/** Files of a format in messages. A document is transformed by the parameters of images, but is no image. */
function kindOf(format: Format): string {
  return `${transformedAs(format) === format.group ? format.group : format.name} files`
}

/**
 * Reads one parameter of a query: its canonical name and value; undefined for a flag that is switched off.
 *
 * @param files what the parameters are for, in messages
 * @throws Problem 400, 501
 */
export function readValue(
  [word, received]: readonly [word: string, received: string],
  known: Known,
  files = `${known.group} files`,
): { name: string; value: ParameterValue | undefined } {
  const parameter = known.words.get(word) ?? reservedParameter(word, known.group)
  if (!parameter) throw unknownParameter(word, known, files)
  const value = withMakerHint([word, received], known, () => parseParameter(word, parameter.spec, received))
  if (value !== undefined && !known.words.has(word)) throw notOffered(word)
  return { name: parameter.name, value }
}

function reservedParameter(
  word: string,
  group: MediaGroup,
): { name: string; spec: ParameterSpec } | undefined {
  return Object.entries(RESERVED_PARAMETERS[group] ?? {})
    .map(([name, spec]) => ({ name, spec }))
    .find(({ name, spec }) => name === word || spec.aliases?.includes(word))
}

/** Problem 501: the request is valid, but a retry cannot succeed. */
function notOffered(word: string): Problem {
  return new Problem({
    status: 501,
    code: 'not_offered',
    detail: `${word} needs a plugin that is not installed. See docs/reference/plugin-api.md.`,
    members: { param: word },
  })
}

/** Returns the parameters that this query may use: for a frame of a video, those of images. @throws Problem 400 */
export function knownIn(query: Iterable<readonly [word: string, received: string]>, known: Known): Known {
  for (const [word, received] of query) {
    const [other, parameter] = [known.makers.get(word), known.words.get(word)]
    if (other && parameter && parseParameter(word, parameter.spec, received) !== undefined) return other
  }
  return known
}

function pairsOfPreset(
  [word, received]: readonly [string, string],
  presets: PresetsOfGroup,
): Array<readonly [string, string]> {
  const preset = word === PRESET_WORD ? presets.get(received) : undefined
  return [...(preset ?? [])].map(([name, value]) => [name, canonicalValue(value)])
}

/** The parameters of all plugins for one media group. */
export function knownTo(transforms: readonly LoadedPlugin[], group: MediaGroup): Known {
  const of = (wanted: MediaGroup) => transforms.filter(({ media }) => media.includes(wanted))
  const own = of(group)
  const makers = new Map<string, Known>()
  for (const maker of own) {
    if (maker.plugin.makes === undefined) continue
    const { group: made } = knownFormat(maker.plugin.makes)
    const words = wordsOf([maker, ...of(made)])
    for (const word of wordsOf([maker]).keys()) {
      const without = { maker: word, words: wordsOf(own) }
      makers.set(word, { group, made, words, makers: new Map(), without })
    }
  }
  const ofImages = group === 'application' ? { ofImages: wordsOf(of('image')) } : {}
  return { group, words: wordsOf(own), makers, ...ofImages }
}

function wordsOf(transforms: readonly LoadedPlugin[]): Words {
  const words = new Map<string, { name: string; spec: ParameterSpec }>()
  for (const { plugin } of transforms) {
    for (const [name, spec] of Object.entries(plugin.params)) {
      for (const word of [name, ...(spec.aliases ?? [])]) words.set(word, { name, spec })
    }
  }
  return words
}

/** @throws Problem 400 that suggests the nearest name */
function presetNamed(
  name: string,
  { presets, files }: { presets: PresetsOfGroup; files: string },
): ReadonlyMap<string, ParameterValue> {
  const preset = presets.get(name)
  if (preset) return preset
  const near = nearest(name, presets.keys())
  const list = presets.size > 0 ? `there are ${[...presets.keys()].join(', ')}` : 'there are no presets'
  const received = truncate(name)
  throw new Problem({
    status: 400,
    code: 'unknown_preset',
    detail: `there is no preset ${JSON.stringify(received)} for ${files}; ${near ? `did you mean "${near}"?` : list}`,
    members: { param: PRESET_WORD, received, ...(near ? { nearest: near } : {}) },
  })
}

/** Problem 403: this client's rules forbid the parameter; other clients may allow it. */
function notAPreset(word: string): Problem {
  const param = truncate(word)
  return new Problem({
    status: 403,
    code: 'presets_only',
    detail: `expected a preset and no other parameter for this client's files but received ${JSON.stringify(param)}`,
    members: { param, expected: PRESET_WORD },
  })
}

/** Problem 422: the parameter is for images, and this file cannot be shown as one. */
function notAnImage(word: string, { name }: Format): Problem {
  return notTransformable(
    `expected an image, or a file that can be shown as one, for ${word} but this file is ${name}`,
  )
}

function unknownParameter(word: string, all: Known, files: string): Problem {
  const { words: known, without } = all
  if (without?.words.has(word)) {
    return new Problem({
      status: 400,
      code: 'unknown_parameter',
      detail: `${word} cannot be combined with ${without.maker}: remove one of them`,
      members: { param: word },
    })
  }
  const near = nearest(word, [...known.keys(), PRESET_WORD])
  const names = [...new Set([...known.values()].map(({ name }) => name))]
  const list = names.length > 0 ? `there are ${names.join(', ')}` : 'they have no parameters'
  return new Problem({
    status: 400,
    code: 'unknown_parameter',
    detail: `there is no parameter ${JSON.stringify(truncate(word))} for ${files}${makerHint([word], all) ?? `; ${near ? `did you mean "${near}"?` : list}`}`,
    members: { param: truncate(word), ...(near ? { nearest: near } : {}) },
  })
}
