import { deleteAlias } from './delete.ts'
import { getAlias } from './get.ts'
import { listAliases } from './list.ts'
import { rollBackAlias } from './roll-back.ts'
import { setAlias } from './set.ts'

/** Stable names for files that can be replaced. */
export const ALIASES = [listAliases, rollBackAlias, getAlias, setAlias, deleteAlias]
