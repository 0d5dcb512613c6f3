import { resolve } from 'node:path'
import { z } from 'zod'
import { type Client, FIRST_CLIENT_ID } from '../../core/clients/client.ts'
import type { Command } from '../../core/command.ts'
import { checkTags } from '../../core/files/annotations.ts'
import type { OpenImportSource } from '../../core/imports/source.ts'
import { badParameter } from '../../core/problem.ts'
import { type CommandItem, command, throttledProgress } from '../admin/commands.ts'
import { noSuchClient } from '../clients/change-existing.ts'
import type { Import } from './import.ts'

const CONCURRENCY_MAX = 16

const s3 = z.strictObject({
  bucket: z.string().min(1),
  prefix: z.string(),
  endpoint: z.url().optional(),
  region: z.string().optional(),
  profile: z.string().optional(),
  credentials: z
    .strictObject({
      accessKeyId: z.string().min(1),
      secretAccessKey: z.string().min(1),
      sessionToken: z.string().optional(),
    })
    .optional(),
})

/** `import`: stores the files of another system as originals. */
export function createImportCommand({
  openSource,
  importAll,
  presentClient,
}: {
  openSource: OpenImportSource
  importAll: Import
  /** The client with this ID, as it is now. */
  presentClient: (id: string) => Promise<Client | undefined>
}): Command {
  return command(
    z.strictObject({
      origin: z.union([z.strictObject({ path: z.string() }), z.strictObject({ s3 })]),
      clientId: z.string().optional(),
      folder: z.string().optional(),
      tags: z.array(z.string()).optional(),
      concurrency: z.int().min(1).max(CONCURRENCY_MAX).optional(),
      withOldNames: z.boolean().optional(),
      withAliases: z.boolean().optional(),
      isDryRun: z.boolean().optional(),
      isSilent: z.boolean().optional(),
    }),
    async (args, { signal, stop, report }) => {
      const { origin, clientId = FIRST_CLIENT_ID, folder = '', tags = [], concurrency = 4 } = args
      const { withOldNames = false, withAliases = false, isDryRun = false, isSilent = false } = args
      if ('path' in origin && resolve(origin.path) !== origin.path)
        throw badParameter({ param: 'path', expected: 'an absolute path', received: origin.path })
      const client = await presentClient(clientId)
      if (!client) throw noSuchClient(clientId)
      return importAll({
        client,
        source: await openSource(origin),
        folder: folder.replace(/^\/+|\/+$/g, ''),
        tags: checkTags(tags),
        concurrency,
        withOldNames,
        withAliases,
        isDryRun,
        isSilent,
        signal,
        stop,
        found: (file) => report({ file } satisfies CommandItem),
        progress: throttledProgress(report),
      })
    },
  )
}
