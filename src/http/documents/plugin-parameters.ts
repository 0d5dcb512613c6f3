import type { DescribedParameter } from '../../core/plugin-api/describe-parameters.ts'
import { AUTO, type ParameterSpec } from '../../core/plugin-api/parameter.ts'
import type { Parameter } from './endpoint.ts'
import type { JsonSchema } from './json-schema.ts'
import { FLAG } from './parameters.ts'

/** A parameter of a plugin, with its bounds. */
export function pluginParameter(described: DescribedParameter): Parameter {
  const { name, aliases, help, expected } = described
  const others = aliases.length > 0 ? ` Also: ${aliases.map((alias) => `\`${alias}\``).join(', ')}.` : ''
  return {
    in: 'query',
    name,
    description: `${help} Accepts ${expected}.${others}`,
    schema: schemaOf(described),
    aliases,
  }
}

/** The accepted values as a JSON schema. The bounds of lists are only in the description. */
export function schemaOf(spec: ParameterSpec): JsonSchema {
  const preset = 'default' in spec && spec.default !== undefined ? { default: spec.default } : {}
  switch (spec.type) {
    case 'integer':
    case 'number': {
      const number = { type: spec.type, minimum: spec.min, maximum: spec.max }
      const words = [
        ...('bare' in spec && spec.bare !== undefined ? ['', 'true', 'false'] : []),
        ...(spec.auto ? [AUTO] : []),
      ]
      if (words.length === 0) return { ...number, ...preset }
      return { anyOf: [number, { type: 'string', enum: words }], ...preset }
    }
    case 'enum':
      return { type: 'string', enum: [...spec.values, ...Object.keys(spec.synonyms ?? {})], ...preset }
    case 'flag':
      return spec.words ? { anyOf: [FLAG, { type: 'string', enum: [...spec.words] }] } : FLAG
    case 'text':
      return { type: 'string', minLength: 1, maxLength: spec.maxLength, ...preset }
    case 'list':
      return { type: 'string', pattern: listPattern(spec) }
    case 'key':
    case 'color':
      return { type: 'string', ...preset }
  }
}

function listPattern({
  of,
  names,
  separator,
  atLeast = names.length,
  groups = 1,
}: Extract<ParameterSpec, { type: 'list' }>): string {
  const number = of === 'integer' ? '\\d+' : '-?(?:\\d+(?:\\.\\d*)?|\\.\\d+)'
  const group = `${number}(?:${separator}${number}){${atLeast - 1},${names.length - 1}}`
  return groups === 1 ? `^${group}$` : `^${group}(?:;${group}){0,${groups - 1}}$`
}
