import { chosenFiles } from '../../../../client/uploader/element/dropped.ts'
import type { FolderFile } from '../../../../client/uploader/queue/item.ts'

/** Lets the member choose files, a whole folder, or take a photo or video. An empty list: nothing was chosen. */
export function pickFiles(kind: 'files' | 'folder' | 'camera' | 'one' = 'files'): Promise<FolderFile[]> {
  const input = document.createElement('input')
  input.type = 'file'
  input.hidden = true
  input.multiple = kind === 'files' || kind === 'folder'
  if (kind === 'folder') input.webkitdirectory = true
  if (kind === 'camera') {
    input.accept = 'image/*,video/*'
    input.capture = 'environment'
  }
  // Safari ignores an input that is not in the page.
  document.body.append(input)
  return new Promise((resolve) => {
    const end = (files: FolderFile[]) => {
      input.remove()
      resolve(files)
    }
    input.onchange = () => end(chosenFiles(input.files ?? []))
    input.oncancel = () => end([])
    input.click()
  })
}
