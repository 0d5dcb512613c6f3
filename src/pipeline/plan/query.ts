import type { ClientRules } from '../../core/clients/client.ts'
import { knownFormat } from '../../core/media/formats.ts'
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
import type { LoadedPlugin } from '../load/load.ts'
import { withAllowedWidth } from './allowed-widths.ts'
import { makerHint, withMakerHint } from './maker-hint.ts'

/** What each preset stands for, canonical, by its name and the group of the files that it is for. */
export type Presets = ReadonlyMap<MediaGroup, PresetsOfGroup>
export type PresetsOfGroup = ReadonlyMap<string, ReadonlyMap<string, ParameterValue>>

/**
 * What is asked for, by canonical name, as the client's rules have it: by a preset, and by the query's own parameters,
 * which win over it.
 *
 * @throws Problem 400, 403
 */
export function readQuery(
  query: Iterable<readonly [name: string, value: string]>,
  {
    known: ofGroup,
    presets,
    ignored,
    rules,
  }: { known: Known; presets: PresetsOfGroup; ignored: readonly string[]; rules: ClientRules },
): ReadonlyMap<string, ParameterValue> {
  const { presetsOnly, allowedWidths } = rules
  const pairs = [...query]
  const known = knownIn([...pairs, ...pairs.flatMap((pair) => pairsOfPreset(pair, presets))], ofGroup)
  const values = new Map<string, ParameterValue | undefined>()
  const seen = new Map<string, string>()
  let preset: ReadonlyMap<string, ParameterValue> = new Map()
  for (const [word, received] of pairs) {
    if (isIgnoredParam(word, ignored)) continue
    const isPreset = word === PRESET_WORD
    if (presetsOnly && !isPreset) throw notAPreset(word)
    const { name, value } = isPreset ? { name: word } : readValue([word, received], known)
    const earlier = seen.get(name)
    if (earlier !== undefined) {
      throw badParameter({ param: word, expected: 'one value', received: `${earlier}, ${received}` })
    }
    seen.set(name, received)
    if (isPreset) preset = presetNamed(received, { presets, group: known.group })
    else values.set(name, value)
  }
  const asked = new Map(preset)
  for (const [name, value] of values) {
    // A flag that the query switches off.
    if (value === undefined) asked.delete(name)
    else asked.set(name, value)
  }
  // A preset asks for another kind of file, and the query switches that off.
  if (known !== ofGroup && ![...asked.keys()].some((name) => ofGroup.makers.has(name))) {
    const without = [...asked.keys()].find((name) => !ofGroup.words.has(name))
    if (without !== undefined) throw unknownParameter(without, ofGroup)
  }
  // A preset's own size is its operator's choice.
  const ownSize = values.has('w') || values.has('dpr')
  if (!allowedWidths || !ownSize) return asked
  return withAllowedWidth(asked, { widths: allowedWidths, height: known.words.get('h')?.spec })
}

/** One parameter of a query: its canonical name; no value for a flag that is switched off. @throws Problem 400, 501 */
export function readValue(
  [word, received]: readonly [word: string, received: string],
  known: Known,
): { name: string; value: ParameterValue | undefined } {
  const parameter = known.words.get(word) ?? awaited(word, known.group)
  if (!parameter) throw unknownParameter(word, known)
  const value = withMakerHint([word, received], known, () => parseParameter(word, parameter.spec, received))
  if (value !== undefined && !known.words.has(word)) throw notOffered(word)
  return { name: parameter.name, value }
}

function awaited(word: string, group: MediaGroup): { name: string; spec: ParameterSpec } | undefined {
  return Object.entries(RESERVED_PARAMETERS[group] ?? {})
    .map(([name, spec]) => ({ name, spec }))
    .find(({ name, spec }) => name === word || spec.aliases?.includes(word))
}

/** 501: no fault of the caller's, and nothing that will pass. */
function notOffered(word: string): Problem {
  return new Problem({
    status: 501,
    code: 'not_offered',
    detail: `no plugin of this installation offers ${word}; docs/reference/plugin-api.md explains how to write one`,
    members: { param: word },
  })
}

/** The parameters of one media group by every name. */
export interface Known {
  group: MediaGroup
  /** The group of the output, when a parameter changes it. */
  made?: MediaGroup
  words: Words
  /** By every name of a parameter of a plugin that makes a file of another group: what a query that names it may say. */
  makers: ReadonlyMap<string, Known>
}
type Words = ReadonlyMap<string, { name: string; spec: ParameterSpec }>

/** What a query may say that names these: for a frame of a video that is what a picture takes. @throws Problem 400 */
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

/** What the plugins for one media group take. */
export function knownTo(transforms: readonly LoadedPlugin[], group: MediaGroup): Known {
  const own = transforms.filter(({ media }) => media.includes(group))
  const makers = new Map<string, Known>()
  for (const maker of own) {
    if (maker.plugin.makes === undefined) continue
    const { group: made } = knownFormat(maker.plugin.makes)
    const words = wordsOf([maker, ...transforms.filter(({ media }) => media.includes(made))])
    for (const word of wordsOf([maker]).keys()) makers.set(word, { group, made, words, makers: new Map() })
  }
  return { group, words: wordsOf(own), makers }
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

/** @throws Problem 400 with the nearest */
function presetNamed(
  name: string,
  { presets, group }: { presets: PresetsOfGroup; group: MediaGroup },
): ReadonlyMap<string, ParameterValue> {
  const preset = presets.get(name)
  if (preset) return preset
  const near = nearest(name, presets.keys())
  const list = presets.size > 0 ? `there are ${[...presets.keys()].join(', ')}` : 'there are none'
  const received = truncate(name)
  throw new Problem({
    status: 400,
    code: 'unknown_preset',
    detail: `there is no preset ${JSON.stringify(received)} for ${group} files; ${near ? `did you mean "${near}"?` : list}`,
    members: { param: PRESET_WORD, received, ...(near ? { nearest: near } : {}) },
  })
}

/** 403: what `word` asks for may be asked of other clients' files. */
function notAPreset(word: string): Problem {
  const param = truncate(word)
  return new Problem({
    status: 403,
    code: 'presets_only',
    detail: `expected a preset and no other parameter for this client's files but received ${JSON.stringify(param)}`,
    members: { param, expected: PRESET_WORD },
  })
}

function unknownParameter(word: string, all: Known): Problem {
  const { words: known, group } = all
  const near = nearest(word, [...known.keys(), PRESET_WORD])
  const names = [...new Set([...known.values()].map(({ name }) => name))]
  const list = names.length > 0 ? `there are ${names.join(', ')}` : 'they take none'
  return new Problem({
    status: 400,
    code: 'unknown_parameter',
    detail: `there is no parameter ${JSON.stringify(truncate(word))} for ${group} files${makerHint([word], all) ?? `; ${near ? `did you mean "${near}"?` : list}`}`,
    members: { param: truncate(word), ...(near ? { nearest: near } : {}) },
  })
}
