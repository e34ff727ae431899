export default function Task({ id }: { id: string }) {
  return <aside aria-label={`Task ${id}`}>{id}</aside>;
}
