import { Link } from '@tanstack/react-router'
import { FileX } from 'lucide-react'
import type { ListedFile } from '../../../../../client/index.ts'
import { useClient } from '../../../api/session.ts'
import { Button } from '../../../ui/button.tsx'
import { Page } from '../../../ui/page.tsx'
import { EmptyState } from '../../../ui/states.tsx'
import { PLAYGROUND } from '../texts.ts'

/** Instead of the playground, for a file without parameters, for example a ZIP. */
export function NotTransformable({ file }: { file: Pick<ListedFile, 'originalName'> }) {
  const { client } = useClient()
  return (
    <Page title={PLAYGROUND.title}>
      <EmptyState
        icon={<FileX />}
        title={file.originalName}
        actions={
          <Button look="primary" asChild>
            <Link to="/c/$clientId/playground/$" params={{ clientId: client.id, _splat: '' }}>
              {PLAYGROUND.chooseFile}
            </Link>
          </Button>
        }
      >
        {PLAYGROUND.notTransformable}
      </EmptyState>
    </Page>
  )
}
