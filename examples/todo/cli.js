#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { open, parse, print } from './items.js';

const [file = 'todo.txt'] = process.argv.slice(2);
process.stdout.write(print(open(parse(readFileSync(file, 'utf8')))));
