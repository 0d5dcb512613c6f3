import { MEDIA_GROUPS, type MediaGroup } from '../media/groups.ts'
import { expectation, type ParameterSpec, type ParameterSpecs } from './parameter.ts'

/** A parameter with all that is known of it: its own record, and whose it is. */
export type DescribedParameter = ParameterSpec & {
  plugin: string
  name: string
  aliases: readonly string[]
  /** What it accepts, in the words of the message that refuses all else: `an integer from 1 to 5000 px`. */
  expected: string
}

export type DescribedParameters = Readonly<Record<MediaGroup, readonly DescribedParameter[]>>

/** The parameters of plugins by media group, in the order of the plugins: that of the chain, as they are loaded. */
export function describeParameters(
  transforms: ReadonlyArray<{
    plugin: { name: string; params: ParameterSpecs }
    media: readonly MediaGroup[]
  }>,
): DescribedParameters {
  const entries = MEDIA_GROUPS.map((group) => {
    const plugins = transforms.filter(({ media }) => media.includes(group))
    return [group, plugins.flatMap(({ plugin }) => Object.entries(plugin.params).map(described(plugin.name)))]
  })
  return Object.fromEntries(entries)
}

function described(plugin: string) {
  return ([name, spec]: [name: string, spec: ParameterSpec]): DescribedParameter => ({
    plugin,
    name,
    ...spec,
    aliases: spec.aliases ?? [],
    expected: expectation(spec),
  })
}
