import type { Trash } from '../../core/ports/file-index.ts'
import type { UploadedFile } from '../../service/upload/upload-request.ts'
import { type Place, uploadToWire } from './file.ts'
import { iso } from './instant.ts'
import type { ListedFile } from './record.ts'

/** The ten fields of an upload's record, and all other stored properties of the file. */
export function fileToWire(
  { trash, ...file }: UploadedFile & { trash?: Trash | undefined },
  place: Place,
): ListedFile {
  const { mediaType, sha256, storedAt, tags = [], metadata = {}, focalPoint } = file.record
  return {
    ...uploadToWire(file, { ...place, options: {} }),
    options: {},
    mediaType,
    sha256,
    uploadedAt: iso(storedAt),
    tags,
    metadata,
    ...(focalPoint ? { focalPoint } : {}),
    ...(trash ? { deletedAt: iso(trash.at), deletedUntil: iso(trash.until) } : {}),
  }
}
