package runfile

import (
	"context"
	"io"

	"github.com/go-json-experiment/json/jsontext"

	"litmus/internal/canon"
	"litmus/internal/digest"
)

// The lines that the facts hash is over; docs/run-file.md gives their order.
// Hashes are hex, absent members are left out, facts and meta are the JSON
// objects that are on file.
type (
	metaFact struct {
		Table string         `json:"table"`
		Facts jsontext.Value `json:"facts"`
	}
	attemptFact struct {
		Table    string         `json:"table"`
		ID       int64          `json:"id"`
		Instance int64          `json:"instance"`
		N        int64          `json:"n"`
		Token    digest.Hash    `json:"token"`
		State    string         `json:"state"`
		Cause    string         `json:"cause,omitzero"`
		Facts    jsontext.Value `json:"facts,omitzero"`
		Started  string         `json:"started"`
		Finished string         `json:"finished,omitzero"`
	}
	exchangeFact struct {
		Table     string         `json:"table"`
		Attempt   int64          `json:"attempt"`
		Seq       int64          `json:"seq"`
		Request   digest.Hash    `json:"request,omitzero"`
		Effective digest.Hash    `json:"effective,omitzero"`
		Response  digest.Hash    `json:"response,omitzero"`
		Meta      jsontext.Value `json:"meta"`
	}
	judgeInputFact struct {
		Table   string      `json:"table"`
		Attempt int64       `json:"attempt"`
		Hash    digest.Hash `json:"hash"`
	}
	winnerFact struct {
		Table    string `json:"table"`
		Instance int64  `json:"instance"`
		Attempt  int64  `json:"attempt"`
	}
)

// hashFacts hashes all that is on file and can't be derived again: it is kept
// apart from the root, so that an interrupted run and a smooth one have the same.
func hashFacts(ctx context.Context, q querier, facts []byte) (digest.Hash, error) {
	w := digest.NewWriter()
	if err := writeFact(w, metaFact{"meta", facts}); err != nil {
		return digest.Hash{}, doing("hash facts", err)
	}
	for _, table := range []struct {
		query string
		scan  func(scanner) (any, error)
	}{
		{"SELECT id, instance, n, token, state, cause, facts, started, coalesce(finished, '') FROM attempt ORDER BY id", scanAttemptFact},
		{"SELECT attempt, seq, request, effective, response, meta FROM exchange ORDER BY attempt, seq", scanExchangeFact},
		{"SELECT attempt, hash FROM judge_input ORDER BY attempt", scanJudgeInputFact},
		{"SELECT instance, attempt FROM record WHERE attempt IS NOT NULL ORDER BY instance", scanWinnerFact},
	} {
		if err := writeFacts(ctx, q, w, table.query, table.scan); err != nil {
			return digest.Hash{}, doing("hash facts", err)
		}
	}
	return w.Sum(), nil
}

type scanner interface{ Scan(...any) error }

func writeFacts(ctx context.Context, q querier, w io.Writer, query string, scan func(scanner) (any, error)) error {
	rows, err := q.QueryContext(ctx, query)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		fact, err := scan(rows)
		if err != nil {
			return err
		}
		if err := writeFact(w, fact); err != nil {
			return err
		}
	}
	return rows.Err()
}

func writeFact(w io.Writer, fact any) error {
	line, err := canon.Marshal(fact)
	if err != nil {
		return err
	}
	_, err = w.Write(append(line, '\n'))
	return err
}

func scanAttemptFact(s scanner) (any, error) {
	f := attemptFact{Table: "attempt"}
	err := s.Scan(&f.ID, &f.Instance, &f.N, scanHash{&f.Token}, &f.State, &f.Cause, (*[]byte)(&f.Facts), &f.Started, &f.Finished)
	return f, err
}

func scanExchangeFact(s scanner) (any, error) {
	f := exchangeFact{Table: "exchange"}
	err := s.Scan(&f.Attempt, &f.Seq, scanHash{&f.Request}, scanHash{&f.Effective}, scanHash{&f.Response}, (*[]byte)(&f.Meta))
	return f, err
}

func scanJudgeInputFact(s scanner) (any, error) {
	f := judgeInputFact{Table: "judge_input"}
	err := s.Scan(&f.Attempt, scanHash{&f.Hash})
	return f, err
}

func scanWinnerFact(s scanner) (any, error) {
	f := winnerFact{Table: "winner"}
	err := s.Scan(&f.Instance, &f.Attempt)
	return f, err
}
