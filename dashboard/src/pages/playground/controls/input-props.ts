import type { Parameter } from '../catalog.ts'

/** What each kind of control needs. */
export interface InputProps<Type extends Parameter['type']> {
  parameter: Extract<Parameter, { type: Type }>
  value: string | undefined
  onChange: (value: string | undefined) => void
  /** For the elements that take a value. */
  described: { 'aria-describedby': string; 'aria-invalid'?: true }
}
