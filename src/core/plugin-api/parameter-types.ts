import { MEDIA_GROUPS, type MediaGroup } from '../media/groups.ts'
import type { DescribedParameter, DescribedParameters } from './describe-parameters.ts'
import { AUTO } from './parameter.ts'

interface Use {
  group: MediaGroup
  parameter: DescribedParameter
}

/**
 * The members of a TypeScript interface with all parameters of delivery URLs, under their names and aliases. Each member has a
 * comment with its bounds.
 *
 * @param only selects parameters. Default: all
 */
export function parameterTypes(
  parameters: DescribedParameters,
  only: (parameter: DescribedParameter) => boolean = () => true,
): string {
  const uses = new Map<string, Use[]>()
  for (const group of MEDIA_GROUPS)
    for (const parameter of parameters[group].filter(only))
      for (const name of [parameter.name, ...parameter.aliases])
        uses.set(name, [...(uses.get(name) ?? []), { group, parameter }])
  return [...uses].map(([name, found]) => member(name, found)).join('\n')
}

function member(name: string, uses: readonly Use[]): string {
  const types = new Set(uses.flatMap(({ parameter }) => typesOf(parameter)))
  const lines = uses.map(({ group, parameter }) => {
    const alias = parameter.name === name ? '' : ` The same as \`${parameter.name}\`.`
    const help = parameter.help.replace(/\.?$/, '.')
    return `   * ${group}: ${help} Takes ${parameter.expected}.${alias}`.replaceAll('*/', '* /')
  })
  return `  /**\n${lines.join('\n')}\n   */\n  ${keyOf(name)}?: ${[...types].join(' | ')} | undefined`
}

function keyOf(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : literal(name)
}

/** The TypeScript types of the accepted values. */
function typesOf(parameter: DescribedParameter): string[] {
  switch (parameter.type) {
    case 'integer':
    case 'number':
      return [
        'number',
        ...('bare' in parameter && parameter.bare !== undefined ? ['boolean'] : []),
        ...(parameter.auto ? [literal(AUTO)] : []),
      ]
    case 'flag':
      return ['boolean', ...(parameter.words ?? []).map(literal)]
    case 'enum':
      return [...parameter.values, ...Object.keys(parameter.synonyms ?? {})].flatMap((value) =>
        /^\d{1,9}$/.test(value) ? [literal(value), value] : [literal(value)],
      )
    case 'list': {
      // An array is joined by commas.
      if (parameter.separator === ',') return ['readonly number[]', 'string']
      return [`\`${parameter.names.map(() => '$' + '{number}').join(parameter.separator)}\``]
    }
    case 'text':
    case 'key':
    case 'color':
      return ['string']
  }
}

function literal(text: string): string {
  return `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`
}
