import type { Step } from './plan.ts'

/** A file of the client that a parameter of type `key` names. */
export interface NamedFile {
  param: string
  key: string
  /** The step with this parameter. */
  step: Step
}

/** The files that steps need in addition to the source, for example watermarks. */
export function namedFiles(steps: readonly Step[]): NamedFile[] {
  return steps.flatMap((step) =>
    Object.entries(step.plugin.params).flatMap(([param, { type }]) => {
      const key = step.params[param]
      return type === 'key' && key !== undefined ? [{ param, key: String(key), step }] : []
    }),
  )
}
