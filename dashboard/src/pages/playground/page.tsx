import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { useClient } from '../../api/session.ts'
import { Page } from '../../ui/page.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { ErrorState } from '../../ui/states.tsx'
import { isTransformable } from './catalog.ts'
import { FileChoice } from './choose/file-choice.tsx'
import { NotTransformable } from './choose/not-transformable.tsx'
import { parametersQuery } from './queries.ts'
import { PLAYGROUND } from './texts.ts'
import { Workbench } from './workbench.tsx'

/** Tries the transformations of a file. The address has the key of the file, and its parameters. */
export function PlaygroundPage() {
  const { _splat: key = '' } = useParams({ strict: false })
  // Another file is another page, with its own parameters.
  return key === '' ? <Choice /> : <Chosen key={key} fileKey={key} />
}

function Choice() {
  const { client } = useClient()
  const navigate = useNavigate()
  return (
    <Page title={PLAYGROUND.title} description={PLAYGROUND.intro}>
      <FileChoice
        onChoose={({ s3PathOriginal }) =>
          void navigate({
            to: '/c/$clientId/playground/$',
            params: { clientId: client.id, _splat: s3PathOriginal },
          })
        }
      />
    </Page>
  )
}

function Chosen({ fileKey }: { fileKey: string }) {
  const { client, sluice } = useClient()
  const file = useQuery({
    queryKey: [client.id, 'file', fileKey],
    queryFn: ({ signal }) => sluice.files.get(fileKey, { signal }),
  })
  const lists = useQuery(parametersQuery)
  const failed = [file, lists].find(({ error }) => error)
  if (failed) {
    return (
      <Page title={PLAYGROUND.title}>
        <ErrorState error={failed.error} onRetry={() => void failed.refetch()} />
      </Page>
    )
  }
  if (!file.data || !lists.data) return <Loading />
  if (!isTransformable(lists.data, file.data)) return <NotTransformable file={file.data} />
  return <Workbench file={file.data} lists={lists.data} />
}

function Loading() {
  return (
    <Page title={PLAYGROUND.title} isWide>
      <div className="grid gap-5 lg:grid-cols-[minmax(0,1fr)_20rem] xl:grid-cols-[minmax(0,1fr)_24rem]">
        <Skeleton className="h-[28rem]" />
        <Skeleton className="h-[28rem]" />
      </div>
    </Page>
  )
}
