import { useNavigate, useSearch } from '@tanstack/react-router'
import { useCallback, useEffect, useRef, useState } from 'react'
import { queryOf as parameterQuery } from '../../../../client/delivery/query.ts'
import type { Preset } from '../../../../client/index.ts'
import type { Parameter } from './catalog.ts'
import { type PlaygroundSearch, readSearch } from './search.ts'

/** The chosen parameters by canonical name, each value as in a delivery URL. A flag has the value `1`. */
export type Values = Readonly<Record<string, string>>

/** How the page changes parameters. An undefined value removes one. */
export type Change = (changes: Readonly<Record<string, string | undefined>>) => void

// Browsers permit about 100 changes of the address within 30 s. A slider would have more.
const ADDRESS_DELAY_MS = 300

/** The parameters of the page. They are part of its address, so a link to it shows the same result. */
export function useValues(known: readonly Parameter[]): {
  values: Values
  change: Change
  replace: (values: Values) => void
} {
  const search = useSearch({ strict: false }) as PlaygroundSearch
  const navigate = useNavigate()
  const address = textOf(toValues(search, known))
  const [values, setValues] = useState(() => toValues(search, known))
  const written = useRef(address)

  useEffect(() => {
    // A step back or forward, or another link. Our own changes arrive here too, and change nothing.
    if (address === written.current) return
    written.current = address
    setValues(toValues(search, known))
  }, [address, search, known])

  useEffect(() => {
    const text = textOf(values)
    if (text === written.current) return undefined
    const timer = setTimeout(() => {
      written.current = text
      void navigate({ to: '.', search: toSearch(values), replace: true, resetScroll: false })
    }, ADDRESS_DELAY_MS)
    return () => clearTimeout(timer)
  }, [values, navigate])

  const change = useCallback<Change>((changes) => {
    setValues((current) => {
      const next = { ...current, ...changes }
      return Object.fromEntries(
        Object.entries(next).filter((pair): pair is [string, string] => pair[1] !== undefined),
      )
    })
  }, [])
  return { values, change, replace: setValues }
}

/** The query of a delivery URL. */
export const queryOf = parameterQuery as (values: Values) => string

function textOf(values: Values): string {
  return JSON.stringify(Object.entries(values))
}

function toValues(search: PlaygroundSearch, known: readonly Parameter[]): Values {
  const names = new Map(known.flatMap(({ name, aliases }) => aliases.map((alias) => [alias, name] as const)))
  return Object.fromEntries(
    Object.entries(readSearch(search)).map(([name, value]) => [
      names.get(name) ?? name,
      value === true ? '1' : value === false ? '0' : String(value),
    ]),
  )
}

/** The address for parameters, for links to this page too. */
function toSearch(values: Values): PlaygroundSearch {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      value !== '' && String(Number(value)) === value ? Number(value) : value,
    ]),
  )
}

/** The parameters of a preset, each as in a delivery URL. */
export function valuesOf({ parameters }: Preset): Values {
  return Object.fromEntries(
    Object.entries(parameters).map(([name, value]) => [name, value === true ? '1' : String(value)]),
  )
}
