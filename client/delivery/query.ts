import type { TransformParameters } from './parameters.ts'

type Value = string | number | boolean | readonly number[] | undefined

/** The query string of parameters, without `?`. A string is returned as it is. */
export function queryOf(parameters: TransformParameters | string): string {
  if (typeof parameters === 'string') return parameters.replace(/^\?/, '')
  return (Object.entries(parameters) as Array<[string, Value]>)
    .flatMap(([name, value]) => {
      if (value === undefined || value === false) return []
      return [value === true ? encodeURIComponent(name) : `${encodeURIComponent(name)}=${inUrl(value)}`]
    })
    .join('&')
}

/** Commas, colons and slashes stay readable: they have no other meaning in a query. */
function inUrl(value: string | number | readonly number[]): string {
  return encodeURIComponent(String(value)).replace(/%(?:2C|3A|2F)/g, decodeURIComponent)
}
