package knee_test

// oracleExceptions names the recorded curves on which Find and the reference
// implementation differ although no rule of §18.2 separates them.
var oracleExceptions = map[string]string{}
