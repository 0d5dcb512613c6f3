import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { Copy, Download, Ellipsis, FolderInput, Link2, Pencil, SlidersHorizontal, Trash2 } from 'lucide-react'
import type { FileWithDerivatives } from '../../../../../../client/index.ts'
import { isDrawn, isOffice } from '../../../../api/pictured.ts'
import { useClient, useMay } from '../../../../api/session.ts'
import { Button, IconButton } from '../../../../ui/button.tsx'
import { CopyButton } from '../../../../ui/copy-button.tsx'
import { Menu } from '../../../../ui/overlays/menu.tsx'
import { MoveDialog } from '../../actions/move-dialog.tsx'
import { fileItem, folderOf } from '../../list/items.ts'
import { useDelivery } from '../data/delivery.ts'
import { useFileCache } from '../data/file.ts'
import { DETAILS } from '../texts.ts'
import { Deletion } from './deletion.tsx'
import { RenameDialog } from './rename-dialog.tsx'

/** The dialog that is open. */
export type OpenDialog = 'rename' | 'move' | 'copy' | 'delete' | undefined

/** What can be done with a file. */
export function Actions({
  file,
  dialog,
  setDialog,
  openAliases,
  onShow,
  onDeleted,
}: {
  file: FileWithDerivatives
  dialog: OpenDialog
  setDialog: (dialog: OpenDialog) => void
  openAliases: () => void
  onShow: (key: string) => void
  onDeleted: () => void
}) {
  const { client } = useClient()
  const mayEdit = useMay('editor')
  const navigate = useNavigate()
  const cache = useFileCache(useQueryClient())
  const { urls } = useDelivery(file, ['download'])
  const isTransformable =
    ['image', 'video', 'audio'].includes(file.mimeType) || isDrawn(file) || isOffice(file)
  const close = () => setDialog(undefined)
  const playground = {
    to: '/c/$clientId/playground/$',
    params: { clientId: client.id, _splat: file.s3PathOriginal },
  } as const
  return (
    <>
      <CopyButton text={file.src} label={DETAILS.copyUrl} isText />
      <Button asChild>
        <a href={urls?.[0]} download={file.originalName}>
          <Download aria-hidden="true" className="size-4" />
          {DETAILS.download}
        </a>
      </Button>
      <span className="flex-1" />
      {isTransformable && (
        <IconButton label={DETAILS.openPlayground} onClick={() => void navigate(playground)}>
          <SlidersHorizontal />
        </IconButton>
      )}
      {mayEdit && (
        <Menu
          align="end"
          trigger={
            <Button look="quiet" aria-label={DETAILS.more} className="w-8 px-0!">
              <Ellipsis aria-hidden="true" className="size-4" />
            </Button>
          }
          groups={[
            [
              {
                label: DETAILS.rename,
                icon: <Pencil />,
                shortcut: ['F2'],
                onSelect: () => setDialog('rename'),
              },
              { label: DETAILS.move, icon: <FolderInput />, onSelect: () => setDialog('move') },
              { label: DETAILS.copy, icon: <Copy />, onSelect: () => setDialog('copy') },
              { label: DETAILS.newAlias, icon: <Link2 />, onSelect: openAliases },
            ],
            [
              {
                label: DETAILS.delete,
                icon: <Trash2 />,
                shortcut: ['Del'],
                isDanger: true,
                onSelect: () => setDialog('delete'),
              },
            ],
          ]}
        />
      )}
      {mayEdit && dialog === 'rename' && <RenameDialog file={file} onClose={close} />}
      {mayEdit && (dialog === 'move' || dialog === 'copy') && (
        <MoveDialog
          items={[fileItem(file)]}
          from={folderOf(file.s3PathOriginal)}
          isCopy={dialog === 'copy'}
          firstRedirect="30d"
          onClose={close}
          onShow={onShow}
          onDone={() => {
            if (dialog === 'move') cache.removed(file.s3PathOriginal)
            cache.added()
          }}
        />
      )}
      {mayEdit && dialog === 'delete' && <Deletion file={file} onClose={close} onDeleted={onDeleted} />}
    </>
  )
}
