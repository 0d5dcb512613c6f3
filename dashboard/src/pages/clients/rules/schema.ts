import { queryOptions } from '@tanstack/react-query'
import { serviceUrl } from '../../../api/base.ts'

/** The part of JSON Schema that describes rules. */
interface Schema {
  type?: string | readonly string[]
  const?: string
  description?: string
  anyOf?: readonly Schema[]
  items?: Schema
  properties?: Record<string, Schema>
  propertyNames?: { enum?: readonly string[] }
}

/** One rule, as its field shows it. `word`: a value that is not an array, such as `any`. */
export type RuleField = { name: string; help: string } & (
  | { kind: 'switch'; on: boolean | string }
  | { kind: 'number' }
  | { kind: 'list'; isNumeric: boolean; word?: string }
  | { kind: 'members'; names: readonly string[] }
)

interface ApiDocument {
  components: { schemas: { ClientChange: Schema; ClientRules: Schema } }
}

/** The rules that this installation has, from its API document. A rule that is added to the service appears by itself. */
export const rulesQuery = queryOptions({
  queryKey: ['rules'],
  staleTime: Number.POSITIVE_INFINITY,
  queryFn: async ({ signal }) => {
    const response = await fetch(`${serviceUrl}/v1/openapi.json`, { signal })
    if (!response.ok) throw new Error(`The response has the status ${response.status}.`)
    const { ClientChange, ClientRules } = ((await response.json()) as ApiDocument).components.schemas
    const stored = ClientRules.properties ?? {}
    return Object.entries(ClientChange.properties?.rules?.properties ?? {}).flatMap(([name, schema]) =>
      fieldOf(name, schema, stored[name] ?? {}),
    )
  },
})

function fieldOf(name: string, schema: Schema, stored: Schema): RuleField[] {
  const variants = variantsOf(schema)
  const isOf = (type: string) => variants.some((one) => [one.type].flat().includes(type))
  const shown = { name, help: schema.description ?? '' }
  const word = variants.find((one) => one.const !== undefined)?.const
  const list = variants.find(({ type }) => type === 'array')
  if (list)
    return [
      {
        ...shown,
        kind: 'list',
        isNumeric: list.items?.type === 'number',
        ...(word !== undefined && { word }),
      },
    ]
  if (word !== undefined) return [{ ...shown, kind: 'switch', on: word }]
  if (isOf('boolean')) return [{ ...shown, kind: 'switch', on: true }]
  if (isOf('number')) return [{ ...shown, kind: 'number' }]
  const names = stored.propertyNames?.enum ?? Object.keys(stored.properties ?? {})
  // Presets have a part of their own.
  return names.length > 0 ? [{ ...shown, kind: 'members', names }] : []
}

function variantsOf(schema: Schema): Schema[] {
  return schema.anyOf ? schema.anyOf.flatMap(variantsOf) : [schema]
}
