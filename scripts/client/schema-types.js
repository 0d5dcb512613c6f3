/**
 * The TypeScript types of the schemas of an API document, each with its description. Reads the part of JSON Schema that the document
 * uses; an unknown schema fails. openapi-typescript needs the JavaScript API of the compiler, which TypeScript 7 does not have.
 */
export function schemaTypes(schemas) {
  return Object.entries(schemas)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, schema]) => `${comment(schema, '')}${declaration(name, schema)}\n`)
    .join('\n')
}

function declaration(name, schema) {
  const text = typeOf(schema, '')
  return schema.type === 'object' && schema.properties
    ? `export interface ${name} ${text}`
    : `export type ${name} = ${text}`
}

function typeOf(schema, indent) {
  if (schema.$ref) return schema.$ref.replace('#/components/schemas/', '')
  if ('const' in schema) return JSON.stringify(schema.const)
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ')
  const several = schema.anyOf ?? schema.oneOf
  if (several) return several.map((one) => inUnion(typeOf(one, indent))).join(' | ')
  if (Array.isArray(schema.type))
    return schema.type.map((type) => inUnion(typeOf({ ...schema, type }, indent))).join(' | ')
  switch (schema.type) {
    case 'string':
    case 'boolean':
    case 'null':
    case 'number':
      return schema.type
    case 'integer':
      return 'number'
    case 'array':
      return schema.items ? `Array<${typeOf(schema.items, indent)}>` : 'unknown[]'
    case 'object':
      return objectType(schema, indent)
    case undefined:
      if (Object.keys(schema).every((word) => word === 'description' || word === 'default')) return 'unknown'
  }
  throw new Error(`a schema of the API document has no TypeScript type: ${JSON.stringify(schema)}`)
}

function objectType({ properties, required = [], additionalProperties, propertyNames }, indent) {
  const inner = `${indent}  `
  const members = Object.entries(properties ?? {}).map(([name, schema]) => {
    const mark = required.includes(name) ? '' : '?'
    return `${comment(schema, inner)}${inner}${keyOf(name)}${mark}: ${typeOf(schema, inner)}`
  })
  if (members.length === 0) {
    const value = typeof additionalProperties === 'object' ? typeOf(additionalProperties, indent) : 'unknown'
    const key = propertyNames?.enum ? typeOf(propertyNames, indent) : 'string'
    return key === 'string' ? `Record<string, ${value}>` : `Partial<Record<${key}, ${value}>>`
  }
  // Members of another type than the others would not fit into one index signature.
  if (typeof additionalProperties === 'object') members.push(`${inner}[member: string]: unknown`)
  return `{\n${members.join('\n')}\n${indent}}`
}

function inUnion(type) {
  return type.includes(' | ') && !type.endsWith('}') && !type.endsWith('>') ? `(${type})` : type
}

function keyOf(name) {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name)
}

function comment({ description, minimum, maximum, maxLength, maxItems }, indent) {
  const hasBounds = maximum !== undefined && Math.abs(maximum) < Number.MAX_SAFE_INTEGER
  const bounds = [
    hasBounds ? `From ${minimum ?? 0} to ${maximum}.` : '',
    maxLength === undefined ? '' : `At most ${maxLength} characters.`,
    maxItems === undefined ? '' : `At most ${maxItems} items.`,
  ]
  const text = [description ?? '', ...bounds].filter(Boolean).join(' ').replaceAll('*/', '* /')
  return text === '' ? '' : `${indent}/** ${text} */\n`
}
