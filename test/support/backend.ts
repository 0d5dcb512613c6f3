import { filesInBucket } from './state.ts'

/** One choice of where files and states are kept. */
export interface Backend {
  name: string
  /** The environment of a service with this data folder: the same for the same folder. */
  env(dataDir: string): Promise<Record<string, string>>
  /**
   * Every object of the bucket, sorted: `<client id>/<key>`, and the half written ones; without the clients' own
   * records, which are always there.
   */
  objects(dataDir: string): Promise<string[]>
}

export const EMBEDDED: Backend = {
  name: 'disk, embedded',
  env: async () => ({}),
  objects: filesInBucket,
}
