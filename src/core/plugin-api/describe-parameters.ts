import { MEDIA_GROUPS, type MediaGroup } from '../media/groups.ts'
import { expectation, type ParameterSpec, type ParameterSpecs } from './parameter.ts'

/** A parameter with its own record and its plugin's name. */
export type DescribedParameter = ParameterSpec & {
  plugin: string
  name: string
  aliases: readonly string[]
  /** The accepted values, in the words of the error message: `an integer from 1 to 5000 px`. */
  expected: string
}

export type DescribedParameters = Readonly<Record<MediaGroup, readonly DescribedParameter[]>>

/** Describes the parameters of plugins by media group, in the order in which the plugins run. */
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
