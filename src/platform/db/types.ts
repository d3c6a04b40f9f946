import { TypeOverrides } from 'pg';

const INT8 = 20;
const DATE = 1082;
const INT8_ARRAY = 1016;

/** How values come back, on both adapters: numbers as numbers, dates without a time as text. */
export const types = new TypeOverrides();
types.setTypeParser(INT8, Number);
types.setTypeParser(DATE, String);
const parseTextArray = types.getTypeParser(INT8_ARRAY) as unknown as (value: string) => string[];
types.setTypeParser(INT8_ARRAY, (value) => parseTextArray(value).map(Number));
