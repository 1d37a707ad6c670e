/** Forms of values, as JSON text. */
export const forms = {
  text: /^".*"$/,
  uuid: /^"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"$/,
  boolean: /^(true|false)$/,
  integer: /^\d+$/,
  absent: /^null$/,
  storedTime: /^"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+0000"$/,
  testTime: /^"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00"$/,
  url: /^"https?:\/\/[^"]+"$/,
  link: /^"https?:\/\/[^"]+[?&]cursor=[^"&]+[^"]*"$/,
};

/** Each row has a form, and the names of the fields with this form. */
export type Fields = [form: RegExp, ...names: string[]][];

/** Tests that the records have exactly these fields, and that each value has the form of its field. */
export function describeFields(of: string, find: () => Promise<object[]>, fields: Fields): void {
  describe(`the fields of ${of}`, () => {
    const formOf = new Map(fields.flatMap(([form, ...names]) => names.map((name) => [name, form])));
    let records: Map<string, unknown>[];

    beforeAll(async () => {
      records = (await find()).map((record) => new Map<string, unknown>(Object.entries(record)));
      expect(records).not.toEqual([]);
    });

    it('are complete, and no others', () => {
      for (const record of records) expect([...record.keys()].sort()).toEqual([...formOf.keys()].sort());
    });

    it.each([...formOf])('%s', (name, form) => {
      for (const record of records) expect(JSON.stringify(record.get(name))).toMatch(form);
    });
  });
}
