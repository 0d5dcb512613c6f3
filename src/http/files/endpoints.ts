import { deleteFiles, restoreFiles } from './batch.ts'
import { deleteDerivatives, deleteFile } from './delete.ts'
import { getFile, updateFile } from './file.ts'
import { listFolders } from './folders.ts'
import { listFiles } from './list.ts'

/** Stored files: lists, details, changes and deletes. Those of several files come before `/v1/files/*path`. */
export const FILES = [
  deleteFiles,
  restoreFiles,
  deleteDerivatives,
  listFiles,
  getFile,
  updateFile,
  listFolders,
  deleteFile,
]
