import type { Step } from './plan.ts'

/** A file of the client that a parameter of type `key` names. */
export interface NamedFile {
  param: string
  key: string
  /** Whose parameter it is. */
  step: Step
}

/** The files beside the source that steps need, watermarks for example. */
export function namedFiles(steps: readonly Step[]): NamedFile[] {
  return steps.flatMap((step) =>
    Object.entries(step.plugin.params).flatMap(([param, { type }]) => {
      const key = step.params[param]
      return type === 'key' && key !== undefined ? [{ param, key: String(key), step }] : []
    }),
  )
}
