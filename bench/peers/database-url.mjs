// The address of another database on the same server, which may listen on a socket that `?host=` names.
export function urlOf(database) {
  const url = new URL(process.env.BENCH_DATABASE_URL);
  url.pathname = `/${database}`;
  return url.href;
}
