import type { ParameterSpecs } from '../../core/plugin-api/parameter.ts'

/** A step of a plan, as far as its parameters name files. */
interface NamingStep {
  plugin: { params: ParameterSpecs }
  params: Readonly<Record<string, unknown>>
}

/** A file of the client that a parameter of type `key` names. */
export interface NamedFile<S> {
  param: string
  key: string
  /** The step with this parameter. */
  step: S
}

/** The files that steps need in addition to the source, for example watermarks. */
export function namedFiles<S extends NamingStep>(steps: readonly S[]): NamedFile<S>[] {
  const files: NamedFile<S>[] = []
  for (const step of steps) {
    for (const param in step.plugin.params) {
      const key = step.params[param]
      if (key !== undefined && step.plugin.params[param]?.type === 'key') {
        files.push({ param, key: String(key), step })
      }
    }
  }
  return files
}
