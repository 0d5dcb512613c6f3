import { type Service, type ServiceOptions, startService } from './service.ts'

/** Starts the service on one choice of storage. */
export type StartService = (options?: ServiceOptions) => Promise<Service>

const BACKENDS: ReadonlyArray<{ name: string; start: StartService }> = [
  { name: 'embedded', start: startService },
]

/**
 * A suite about what callers see, which is the same wherever files and states are kept. What it starts is stopped at
 * its end.
 */
export function onEveryBackend(name: string, suite: (start: StartService) => void): void {
  for (const backend of BACKENDS)
    describe(`${name} (${backend.name})`, () => suite(stoppedAtTheEnd(backend.start)))
}

/** Of the suite that calls it: services that a test has stopped itself are left alone. */
export function stoppedAtTheEnd(start: StartService): StartService {
  const running = new Set<Service>()
  after(async () => {
    for (const service of running) await service.stop()
  })
  return async (options) => {
    const service = await start(options)
    running.add(service)
    return {
      ...service,
      async stop(stopOptions) {
        if (running.delete(service)) await service.stop(stopOptions)
      },
    }
  }
}
