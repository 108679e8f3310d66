// Package strictyaml reads the YAML files that people write for litmus: suites,
// rubrics, policies. It takes a small part of YAML and guesses nothing:
//
//   - one document, of mappings, lists and scalars, bounded in size, in tokens
//     and in depth, so that no file takes long to be refused;
//   - no anchors, aliases, tags or merge keys: a value is where it is written;
//   - no unknown field and no field twice;
//   - no conversion: where text should be, a number is a fault.
//
// The first fault is an *inputerror.Error with file, line and field. Start at
// Read.
package strictyaml
