import Image from 'next/image'
import { sluice } from '../sluice'
import { Upload } from './upload'

export const dynamic = 'force-dynamic'

export default async function Page() {
  const { files } = await sluice.files.page({ prefix: 'photos', type: 'image', limit: 12 })
  return (
    <main>
      <Upload />
      {files.map(({ src, originalName }) => (
        <Image key={src} src={`${src}?ar=3:2`} alt={originalName} width={600} height={400} sizes="300px" />
      ))}
    </main>
  )
}
