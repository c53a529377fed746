import { test } from 'vitest';
import { readdirSync, readFileSync } from 'node:fs';
import { parseDefinition } from '../../language/read/definition.ts';
test('x', () => {
 const dir='test/cases/definitions/as-written/';
 for (const f of readdirSync(dir)) {
  const r = parseDefinition(JSON.parse(readFileSync(dir+f,'utf8')).definition, { knownRefs: (name:string)=>({name,steps:[],loop:{type:'once'}}) as any });
  const c: any = {}; for (const p of r.problems) c[p.code]=(c[p.code]??0)+1;
  console.log(f, r.ok, JSON.stringify(c));
 }
});
