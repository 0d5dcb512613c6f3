import { type Service, type ServiceOptions, startService } from './service.ts'

/** Starts the service on one choice of storage. */
export type StartService = (options?: ServiceOptions) => Promise<Service>

const BACKENDS: ReadonlyArray<{ name: string; start: StartService }> = [
  { name: 'embedded', start: startService },
]

/** A suite about what callers see, which is the same wherever files and states are kept. */
export function onEveryBackend(name: string, suite: (start: StartService) => void): void {
  for (const backend of BACKENDS) describe(`${name} (${backend.name})`, () => suite(backend.start))
}
