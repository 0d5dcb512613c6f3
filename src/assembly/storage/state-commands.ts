import { z } from 'zod'
import type { Config } from '../../../config/load.ts'
import { noteCopied } from '../../adapters/disk/data-dir.ts'
import type { Commands } from '../../core/command.ts'
import { command } from '../../service/admin/commands.ts'
import { migrateState } from '../../service/backup/migration/migrate-state.ts'
import type { Backends } from './backends.ts'
import { openEmbeddedState } from './embedded-state.ts'

/** The command that moves the state of one process to Redis. */
export function stateCommands(backends: Backends, config: Pick<Config, 'REDIS_URL'>): Commands {
  return {
    'migrate-state': command(z.strictObject({ dataDir: z.string() }), async ({ dataDir }, { signal }) => {
      if (!config.REDIS_URL) throw new Error('set REDIS_URL: the state is copied into this Redis')
      const state = await openEmbeddedState(dataDir)
      try {
        const report = await migrateState(state, backends, signal)
        await noteCopied(dataDir)
        return report
      } finally {
        await state.close()
      }
    }),
  }
}
