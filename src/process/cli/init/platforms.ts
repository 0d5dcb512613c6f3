/** Where the files of an installation are stored. */
export type Storage = 'disk' | 's3'

interface Kind {
  /** A noun phrase for the list of platforms. */
  about: string
  /** The possible places of files, the default first. */
  storages: readonly [Storage, ...Storage[]]
  /** With which of them `--start` can start it: nothing is left to fill in. */
  starts: readonly Storage[]
  /** Whether it builds a container image in the folder. */
  hasImage: boolean
}

/** The platforms of `sluice init`, the default first. */
export const PLATFORMS = {
  compose: {
    about: 'containers on one machine, with Docker Compose',
    storages: ['disk', 's3'],
    starts: ['disk', 's3'],
    hasImage: true,
  },
  node: {
    about: 'one process, with Node and npm',
    storages: ['disk', 's3'],
    starts: ['disk'],
    hasImage: false,
  },
  systemd: {
    about: 'a service of systemd on one machine',
    storages: ['disk', 's3'],
    starts: [],
    hasImage: false,
  },
  heroku: { about: 'Heroku', storages: ['s3'], starts: [], hasImage: false },
  fly: { about: 'Fly', storages: ['s3'], starts: [], hasImage: true },
  render: { about: 'Render', storages: ['s3'], starts: [], hasImage: true },
  kubernetes: { about: 'Kubernetes, with Helm', storages: ['s3'], starts: [], hasImage: true },
} as const satisfies Record<string, Kind>

export type Platform = keyof typeof PLATFORMS

export const PLATFORM_NAMES = Object.keys(PLATFORMS) as [Platform, ...Platform[]]

/** The description of a platform. */
export function kindOf(platform: Platform): Kind {
  return PLATFORMS[platform]
}

/** What the operator has chosen. */
export interface Choices {
  platform: Platform
  storage: Storage
  /** The host name of the service. Undefined: the address is that of this machine, or of the platform. */
  domain: string | undefined
}
