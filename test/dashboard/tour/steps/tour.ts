import type { Page } from 'playwright-core'
import type { DroppedFile } from '../../../support/console/hands.ts'
import { picture } from '../../../support/media/images.ts'
import { video } from '../../../support/media/videos.ts'
import type { Caller } from '../../../support/requests/client.ts'
import type { Service } from '../../../support/service.ts'
import { listAll, type WireFile } from '../../../support/stored/files.ts'

export const EMAIL = 'ada@example.com'
export const CLIENT = 'Harbour News'

/** What all steps share: one service, and one page of one browser. */
export interface Tour {
  service: Service
  page: Page
  /** The client that the tour creates. Known after that step. */
  client: Caller & { id: string }
  /** What the person drops: two photos and a video. */
  dropped: readonly [DroppedFile, DroppedFile, DroppedFile]
}

/** Two photos and a video. */
export async function filesToDrop(): Promise<Tour['dropped']> {
  return [
    { name: 'pier.jpg', type: 'image/jpeg', bytes: await picture({ format: 'jpeg' }) },
    {
      name: 'boats.png',
      type: 'image/png',
      bytes: await picture({ width: 320, height: 200 }),
    },
    { name: 'waves.mp4', type: 'video/mp4', bytes: await video({ colours: ['navy', 'teal'] }) },
  ]
}

/** The stored file of this name. */
export async function storedFile({ client }: Tour, name: string): Promise<WireFile> {
  const file = (await listAll(client)).find(({ originalName }) => originalName === name)
  if (!file) throw new Error(`no file is named ${name}`)
  return file
}
